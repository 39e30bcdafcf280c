// q8ta_conv2d on channels-last maps whose pixels are whole vec4 of words; a thread makes four pixels × four channels.
// For CPUs that emulate a GPU: products are floats, whose sums move to integers after each tap, and each 1,024 channels.
// Taps outside of the map count as the zero point: their products and their share of the correction are left out.

override long_sums: bool = false; // a tap has more channels than that; a loop around the loop would cost more

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

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn store(pixel: u32, word: u32, acc: vec4<i32>) {
  if (pixel < params.pixels) {
    y[pixel * params.y_channel_words + word] = requantize(
      acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
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
  let steps = params.x_channel_words / 4u;
  let taps = params.kernel_height * params.kernel_width;
  let row = taps * steps;
  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let h = top + i32(kh * params.dilation_height);
    let in_height = (h >= vec4<i32>(0)) & (h < vec4<i32>(i32(params.x_height)));
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let v = left + i32(kw * params.dilation_width);
      let inside = in_height & (v >= vec4<i32>(0)) & (v < vec4<i32>(i32(params.x_width)));
      if (!any(inside)) {
        continue;
      }
      let tap = kh * params.kernel_width + kw;
      let zero_point = select(vec4<i32>(0), vec4<i32>(params.x_zero_point), inside);
      let sums = tap_sums[tap * params.n_words + word];
      acc0 -= zero_point.x * sums;
      acc1 -= zero_point.y * sums;
      acc2 -= zero_point.z * sums;
      acc3 -= zero_point.w * sums;
      let base = ((n * params.x_height + vec4<u32>(h)) * params.x_width + vec4<u32>(v)) * steps;
      let w = word * 4u * row + tap * steps;
      var products = mat4x4<f32>();
      for (var c = 0u; c < steps; c++) {
        let w0 = weight[w + c];
        let w1 = weight[w + row + c];
        let w2 = weight[w + 2u * row + c];
        let w3 = weight[w + 3u * row + c];
        let a0 = select(vec4<u32>(0u), x[base.x + c], inside.x);
        let a1 = select(vec4<u32>(0u), x[base.y + c], inside.y);
        let a2 = select(vec4<u32>(0u), x[base.z + c], inside.z);
        let a3 = select(vec4<u32>(0u), x[base.w + c], inside.w);
        products += transpose(widened4(w0.x, w1.x, w2.x, w3.x)) * widened4(a0.x, a1.x, a2.x, a3.x)
          + transpose(widened4(w0.y, w1.y, w2.y, w3.y)) * widened4(a0.y, a1.y, a2.y, a3.y)
          + transpose(widened4(w0.z, w1.z, w2.z, w3.z)) * widened4(a0.z, a1.z, a2.z, a3.z)
          + transpose(widened4(w0.w, w1.w, w2.w, w3.w)) * widened4(a0.w, a1.w, a2.w, a3.w);
        if (long_sums && c % 64u == 63u) {
          acc0 += vec4<i32>(products[0] * NARROWED);
          acc1 += vec4<i32>(products[1] * NARROWED);
          acc2 += vec4<i32>(products[2] * NARROWED);
          acc3 += vec4<i32>(products[3] * NARROWED);
          products = mat4x4<f32>();
        }
      }
      acc0 += vec4<i32>(products[0] * NARROWED);
      acc1 += vec4<i32>(products[1] * NARROWED);
      acc2 += vec4<i32>(products[2] * NARROWED);
      acc3 += vec4<i32>(products[3] * NARROWED);
    }
  }
  store(pixel, word, acc0);
  store(pixel + 1u, word, acc1);
  store(pixel + 2u, word, acc2);
  store(pixel + 3u, word, acc3);
}
