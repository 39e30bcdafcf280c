// uses threads
// uses layout
// uses walk_one
// uses through
// uses quantized
// uses written
// int8 from other places of x, each through a table of 256 entries; one thread a word of y, in any layout.
// `elementwise`: the places are the same. `quantizes`: x is float32, in row-major order.

override elementwise: bool = false;
override quantizes: bool = false;

struct Params {
  rank: u32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of y, with the stride in x
  @align(16) by: Quantizing,  // of x
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn table_word(i: u32) -> u32 {
  return table[i];
}

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  if (elementwise) {
    write(word, looked_up_word(x[word]));
    return;
  }
  let elements = elements_of(params.tensor, word);
  var q = vec4<u32>();
  for (var lane = 0u; lane < elements.count; lane++) {
    let at = walk(elements.first + lane * params.tensor.inner, 0u, params.rank);
    if (quantizes) {
      q[lane] = x[at];
    } else {
      q[lane] = x[at / 4u] >> (at % 4u * 8u);
    }
  }
  if (quantizes) {
    q = vec4<u32>(quantized(q, params.by));
  }
  var out = 0u;
  for (var lane = 0u; lane < elements.count; lane++) {
    out |= entry(q[lane]) << (lane * 8u);
  }
  write(word, out);
}
