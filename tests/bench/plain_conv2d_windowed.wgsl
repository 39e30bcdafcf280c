// The yardstick for conv2d_windowed.wgsl, transposed: one thread makes the four outputs of a word, and tests every tap.

override transposed: bool = true;
override shared_window: bool = true;

struct Params {
  words: u32,
  y_height: u32,
  y_width: u32,
  y_channel_words: u32,
  n_words: u32,
  x_height: u32,
  x_width: u32,
  x_channel_words: u32,
  window: u32,
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
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> first: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words) {
    return;
  }
  // neighbouring threads take neighbouring columns, as in a row-major map
  let ow = index % params.y_width;
  let oh = index / params.y_width % params.y_height;
  let word = index / params.y_width / params.y_height % params.n_words;
  let n = index / params.y_width / params.y_height / params.n_words;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let h = i32(oh + params.pad_height) - i32(kh * params.dilation_height);
      let v = i32(ow + params.pad_width) - i32(kw * params.dilation_width);
      let ih = h / i32(params.stride_height);
      let iw = v / i32(params.stride_width);
      if (h >= 0 && v >= 0 && h % i32(params.stride_height) == 0 && v % i32(params.stride_width) == 0
          && ih < i32(params.x_height) && iw < i32(params.x_width)) {
        let tap = kh * params.kernel_width + kw;
        let base = ((n * params.x_height + u32(ih)) * params.x_width + u32(iw)) * params.x_channel_words;
        for (var i = 0u; i < params.window; i++) {
          let w = weight[(word * params.kernel_height * params.kernel_width + tap) * params.window + i];
          for (var lane = 0u; lane < 4u; lane++) {
            acc[lane] += dot4I8Packed(x[base + first[word][lane] + i], w[lane]);
          }
        }
        acc -= params.x_zero_point * tap_sums[tap * params.n_words + word];
      }
    }
  }
  y[((n * params.y_height + oh) * params.y_width + ow) * params.y_channel_words + word] = requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}
