// The yardstick for conv2d.wgsl: one thread makes the four outputs of a word, a word of channels a step.

struct Params {
  pixels: u32,
  n_words: u32,
  y_height: u32,
  y_width: u32,
  y_channel_words: u32,
  x_height: u32,
  x_width: u32,
  x_channel_words: u32,
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  if (pixel >= params.pixels) {
    return;
  }
  let ow = pixel % params.y_width;
  let oh = pixel / params.y_width % params.y_height;
  let n = pixel / params.y_width / params.y_height;
  let taps = params.kernel_height * params.kernel_width;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let h = i32(oh * params.stride_height + kh * params.dilation_height) - i32(params.pad_height);
      let v = i32(ow * params.stride_width + kw * params.dilation_width) - i32(params.pad_width);
      if (h >= 0 && v >= 0 && h < i32(params.x_height) && v < i32(params.x_width)) {
        let tap = kh * params.kernel_width + kw;
        let base = ((n * params.x_height + u32(h)) * params.x_width + u32(v)) * params.x_channel_words;
        for (var i = 0u; i < params.x_channel_words; i++) {
          for (var lane = 0u; lane < 4u; lane++) {
            acc[lane] += dot4I8Packed(x[base + i], weight[((word * 4u + lane) * taps + tap) * params.x_channel_words + i]);
          }
        }
        acc -= params.x_zero_point * tap_sums[tap * params.n_words + word];
      }
    }
  }
  y[pixel * params.y_channel_words + word] = requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}
