// q8ta_conv2d_dw on channels-last maps whose pixels are whole vec4 of words; one thread 16 channels.

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

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

fn finish(acc: vec4<i32>, word: u32) -> u32 {
  return requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words / 4u) {
    return;
  }
  let groups = params.x_channel_words / 4u;
  let group = index % groups;
  let pixel = index / groups;
  let n = pixel / (params.y_width * params.y_height);
  let top = i32(pixel / params.y_width % params.y_height * params.stride_height) - i32(params.pad_height);
  let left = i32(pixel % params.y_width * params.stride_width) - i32(params.pad_width);
  var p = vec4<i32>();
  var q = vec4<i32>();
  var r = vec4<i32>();
  var s = vec4<i32>();
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
      let a = x[((n * params.x_height + u32(h)) * params.x_width + u32(v)) * groups + group];
      let w = weight[(kh * params.kernel_width + kw) * groups + group];
      p += (unpack(a.x) - params.x_zero_point) * unpack(w.x);
      q += (unpack(a.y) - params.x_zero_point) * unpack(w.y);
      r += (unpack(a.z) - params.x_zero_point) * unpack(w.z);
      s += (unpack(a.w) - params.x_zero_point) * unpack(w.w);
    }
  }
  let word = 4u * group;
  y[index] = vec4<u32>(finish(p, word), finish(q, word + 1u), finish(r, word + 2u), finish(s, word + 3u));
}
