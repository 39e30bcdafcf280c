// uses threads
// uses dot4
// uses window
// uses epilogue
// The yardstick for conv2d_windowed.wgsl, transposed: one thread makes the four outputs of a word, and tests every tap.

override transposed: bool = true;
override shared_window: bool = true;

struct Params {
  words: u32,
  y_channel_words: u32,
  n_words: u32,
  x_channel_words: u32,
  window_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> first: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  // neighbouring threads take neighbouring columns, as in a row-major map
  let ow = index % params.maps.y_width;
  let oh = index / params.maps.y_width % params.maps.y_height;
  let word = index / params.maps.y_width / params.maps.y_height % params.n_words;
  let n = index / params.maps.y_width / params.maps.y_height / params.n_words;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let h = i32(oh + params.window.pad_height) - i32(kh * params.window.dilation_height);
      let v = i32(ow + params.window.pad_width) - i32(kw * params.window.dilation_width);
      let ih = h / i32(params.window.stride_height);
      let iw = v / i32(params.window.stride_width);
      if (h >= 0 && v >= 0 && h % i32(params.window.stride_height) == 0 && v % i32(params.window.stride_width) == 0
          && ih < i32(params.maps.x_height) && iw < i32(params.maps.x_width)) {
        let tap = kh * params.window.kernel_width + kw;
        let base = ((n * params.maps.x_height + u32(ih)) * params.maps.x_width + u32(iw)) * params.x_channel_words;
        for (var i = 0u; i < params.window_words; i++) {
          let w = weight[(word * params.window.kernel_height * params.window.kernel_width + tap) * params.window_words + i];
          for (var lane = 0u; lane < 4u; lane++) {
            acc[lane] += dot4I8Packed(x[base + first[word][lane] + i], w[lane]);
          }
        }
        acc -= params.epilogue.x_zero_point * tap_sums[tap * params.n_words + word];
      }
    }
  }
  y[((n * params.maps.y_height + oh) * params.maps.y_width + ow) * params.y_channel_words + word] = requantized(acc, word);
}
