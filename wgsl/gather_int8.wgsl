// int8 from other places of x, each through a table of 256 entries; one thread a word of y, in any layout.
// `elementwise`: the places are the same.

override elementwise: bool = false;

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  rank: u32,
  sizes: array<vec4<u32>, 2>,
  places: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn source(element: u32) -> u32 {
  var rest = element;
  var byte = 0u;
  for (var axis = 0u; axis < params.rank; axis++) {
    let size = params.sizes[axis / 4u][axis % 4u];
    byte += rest % size * params.places[axis / 4u][axis % 4u];
    rest /= size;
  }
  return byte;
}

// The table's byte for the lowest byte of a word.
fn entry(bits: u32) -> u32 {
  let at = (bits & 255u) ^ 128u;
  return (table[at / 4u] >> (at % 4u * 8u)) & 255u;
}

fn through_table(word: u32) -> u32 {
  return entry(word) | (entry(word >> 8u) << 8u) | (entry(word >> 16u) << 16u) | (entry(word >> 24u) << 24u);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let word = flat_workgroup(id, grid) * 64u + local;
  if (word >= params.words) {
    return;
  }
  if (elementwise) {
    y[word] = through_table(x[word]);
    return;
  }
  let channel = word % params.channel_words * 4u;
  let pixel = word / params.channel_words;
  let first = (pixel / params.inner * params.channels + channel) * params.inner + pixel % params.inner;
  var out = 0u;
  for (var lane = 0u; lane < min(4u, params.channels - min(channel, params.channels)); lane++) {
    let byte = source(first + lane * params.inner);
    out |= entry(x[byte / 4u] >> (byte % 4u * 8u)) << (lane * 8u);
  }
  y[word] = out;
}
