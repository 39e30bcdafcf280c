// int8 words in their layout to float32, row-major; one thread a word.

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  scale: f32,
  zero_point: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

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
  let v = vec4<f32>(unpack(x[word]) - params.zero_point) * params.scale;
  for (var lane = 0u; lane < min(4u, params.channels - min(channel, params.channels)); lane++) {
    y[first + lane * params.inner] = v[lane];
  }
}
