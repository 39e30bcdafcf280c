// int8 words from one layout to another; one thread a word of y.

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  x_channels: u32,
  x_inner: u32,
  x_padded: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
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
  var out = 0u;
  for (var lane = 0u; lane < min(4u, params.channels - min(channel, params.channels)); lane++) {
    let element = first + lane * params.inner;
    let plane = element / params.x_inner;
    let byte = (plane / params.x_channels * params.x_inner + element % params.x_inner) * params.x_padded + plane % params.x_channels;
    out |= ((x[byte / 4u] >> (byte % 4u * 8u)) & 255u) << (lane * 8u);
  }
  y[word] = out;
}
