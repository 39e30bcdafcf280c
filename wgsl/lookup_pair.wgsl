// uses threads
// uses layout
// uses walk_two
// A function of two int8 tensors that broadcast, through a table of 256 times 256 bytes; one thread a word of y.

struct Params {
  rank: u32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// How far above −128 an int8 is.
fn above(word: u32, byte: u32) -> u32 {
  return extractBits(word, byte % 4u * 8u, 8u) ^ 128u;
}

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(params.tensor, word);
  var out = 0u;
  for (var lane = 0u; lane < elements.count; lane++) {
    let at = walk(elements.first + lane * params.tensor.inner, 0u, params.rank);
    let entry = above(a[at.x / 4u], at.x) * 256u + above(b[at.y / 4u], at.y);
    out |= extractBits(table[entry / 4u], entry % 4u * 8u, 8u) << (lane * 8u);
  }
  y[word] = out;
}
