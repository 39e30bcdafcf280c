// q8ta_conv2d_dw on a CPU that emulates a GPU: a thread makes four pixels × four channels, their products are floats.
// Taps outside of the map count as the zero point.

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
@group(0) @binding(2) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

fn store(pixel: u32, word: u32, sums: vec4<f32>) {
  if (pixel < params.pixels) {
    y[pixel * params.y_channel_words + word] = requantize(
      vec4<i32>(sums * NARROWED), params.x_scale, channel[2u * word], channel[2u * word + 1u],
      params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
  }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  let word = index % params.n_words;
  let pixel = index / params.n_words * 4u;
  if (pixel >= params.pixels) {
    return;
  }
  let pixels = min(vec4<u32>(pixel) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.pixels - 1u));
  let n = pixels / (params.y_width * params.y_height);
  let top = vec4<i32>(pixels / params.y_width % params.y_height * params.stride_height) - i32(params.pad_height);
  let left = vec4<i32>(pixels % params.y_width * params.stride_width) - i32(params.pad_width);
  let nothing = pack(vec4<i32>(params.x_zero_point));
  let zero = widened(nothing);
  var sums = mat4x4<f32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let h = top + i32(kh * params.dilation_height);
    let in_height = (h >= vec4<i32>(0)) & (h < vec4<i32>(i32(params.x_height)));
    let row = (n * params.x_height + vec4<u32>(h)) * params.x_width;
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let v = left + i32(kw * params.dilation_width);
      let inside = in_height & (v >= vec4<i32>(0)) & (v < vec4<i32>(i32(params.x_width)));
      let at = (row + vec4<u32>(v)) * params.x_channel_words + word;
      let w = widened(weight[(kh * params.kernel_width + kw) * params.n_words + word]);
      sums[0] += (widened(select(nothing, x[at.x], inside.x)) - zero) * w;
      sums[1] += (widened(select(nothing, x[at.y], inside.y)) - zero) * w;
      sums[2] += (widened(select(nothing, x[at.z], inside.z)) - zero) * w;
      sums[3] += (widened(select(nothing, x[at.w], inside.w)) - zero) * w;
    }
  }
  store(pixel, word, sums[0]);
  store(pixel + 1u, word, sums[1]);
  store(pixel + 2u, word, sums[2]);
  store(pixel + 3u, word, sums[3]);
}
