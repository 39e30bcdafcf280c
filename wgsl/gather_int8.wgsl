// uses threads
// uses layout
// uses walk_one
// int8 from other places of x, each through a table of 256 entries; one thread a word of y, in any layout.
// `elementwise`: the places are the same.

override elementwise: bool = false;

struct Params {
  rank: u32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of y, with the stride in x
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// The table's byte for the lowest byte of a word.
fn entry(bits: u32) -> u32 {
  let at = (bits & 255u) ^ 128u;
  return (table[at / 4u] >> (at % 4u * 8u)) & 255u;
}

fn through_table(word: u32) -> u32 {
  return entry(word) | (entry(word >> 8u) << 8u) | (entry(word >> 16u) << 16u) | (entry(word >> 24u) << 24u);
}

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  if (elementwise) {
    y[word] = through_table(x[word]);
    return;
  }
  let elements = elements_of(word);
  var out = 0u;
  for (var lane = 0u; lane < elements.count; lane++) {
    let byte = walk(elements.first + lane * params.tensor.inner, 0u, params.rank);
    out |= entry(x[byte / 4u] >> (byte % 4u * 8u)) << (lane * 8u);
  }
  y[word] = out;
}
