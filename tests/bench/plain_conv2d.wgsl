// uses threads
// uses dot4
// uses window
// uses epilogue
// The yardstick for conv2d.wgsl: one thread makes the four outputs of a word, a word of channels a step.

struct Params {
  pixels: u32,
  n_words: u32,
  y_channel_words: u32,
  x_channel_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn run(index: u32) {
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  if (pixel >= params.pixels) {
    return;
  }
  let ow = pixel % params.maps.y_width;
  let oh = pixel / params.maps.y_width % params.maps.y_height;
  let n = pixel / params.maps.y_width / params.maps.y_height;
  let taps = params.window.kernel_height * params.window.kernel_width;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let h = i32(oh * params.window.stride_height + kh * params.window.dilation_height) - i32(params.window.pad_height);
      let v = i32(ow * params.window.stride_width + kw * params.window.dilation_width) - i32(params.window.pad_width);
      if (h >= 0 && v >= 0 && h < i32(params.maps.x_height) && v < i32(params.maps.x_width)) {
        let tap = kh * params.window.kernel_width + kw;
        let base = ((n * params.maps.x_height + u32(h)) * params.maps.x_width + u32(v)) * params.x_channel_words;
        for (var i = 0u; i < params.x_channel_words; i++) {
          for (var lane = 0u; lane < 4u; lane++) {
            acc[lane] += dot4I8Packed(x[base + i], weight[((word * 4u + lane) * taps + tap) * params.x_channel_words + i]);
          }
        }
        acc -= params.epilogue.x_zero_point * tap_sums[tap * params.n_words + word];
      }
    }
  }
  y[pixel * params.y_channel_words + word] = requantized(acc, word);
}
