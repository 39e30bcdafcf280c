// q8ta_conv2d_dw on channels-last maps; one thread a word of four channels, the weights of a tap in words alike.

struct Params {
  words: u32,
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

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words) {
    return;
  }
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  let n = pixel / (params.y_width * params.y_height);
  let top = i32(pixel / params.y_width % params.y_height * params.stride_height) - i32(params.pad_height);
  let left = i32(pixel % params.y_width * params.stride_width) - i32(params.pad_width);
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let h = top + i32(kh * params.dilation_height);
    if (h < 0 || h >= i32(params.x_height)) {
      continue;
    }
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let v = left + i32(kw * params.dilation_width);
      if (v < 0 || v >= i32(params.x_width)) {
        continue;
      }
      let at = ((n * params.x_height + u32(h)) * params.x_width + u32(v)) * params.x_channel_words + word;
      acc += (unpack(x[at]) - params.x_zero_point) * unpack(weight[(kh * params.kernel_width + kw) * params.n_words + word]);
    }
  }
  y[pixel * params.y_channel_words + word] = requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}
