// Largest of each window of a channels-last int8 map; one thread a word of four channels.

struct Params {
  words: u32,
  channel_words: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words) {
    return;
  }
  let word = index % params.channel_words;
  let pixel = index / params.channel_words;
  let n = pixel / (params.y_width * params.y_height);
  let top = i32(pixel / params.y_width % params.y_height * params.stride_height) - i32(params.pad_height);
  let left = i32(pixel % params.y_width * params.stride_width) - i32(params.pad_width);
  var largest = vec4<i32>(-128);
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let h = top + i32(kh * params.dilation_height);
    if (h < 0 || h >= i32(params.x_height)) {
      continue;
    }
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let v = left + i32(kw * params.dilation_width);
      if (v >= 0 && v < i32(params.x_width)) {
        largest = max(largest, unpack(x[((n * params.x_height + u32(h)) * params.x_width + u32(v)) * params.channel_words + word]));
      }
    }
  }
  y[index] = pack(largest);
}
