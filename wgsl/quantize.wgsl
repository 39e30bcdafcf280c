// float32, row-major, to int8 words in their layout; one thread a word.

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  inv_scale: f32,
  zero_point: i32,
  qmin: i32,
  qmax: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn quantize(bits: u32) -> i32 {
  // NaN is told by its bits: a compiler may assume that `v != v` never holds
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return params.zero_point;
  }
  let q = round(bitcast<f32>(bits) * params.inv_scale) + f32(params.zero_point);
  return i32(clamp(q, f32(params.qmin), f32(params.qmax)));
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let word = flat_workgroup(id, grid) * 64u + local;
  if (word >= params.words) {
    return;
  }
  let channel = word % params.channel_words * 4u;
  let pixel = word / params.channel_words;
  let first = (pixel / params.inner * params.channels + channel) * params.inner + pixel % params.inner;
  var q = vec4<i32>();
  for (var lane = 0u; lane < min(4u, params.channels - min(channel, params.channels)); lane++) {
    q[lane] = quantize(x[first + lane * params.inner]);
  }
  y[word] = pack(q);
}
