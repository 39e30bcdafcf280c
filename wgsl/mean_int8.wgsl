// uses lanes
// uses tree
// uses layout
// uses walk_one
// uses average
// The mean of an int8 tensor over any of its axes: summed in int32, scaled once. `lanes` threads share a word of y, each
// taking every lanes-th term. `together`: the four bytes of a word of y come from a word of x.

override together: bool = false;

struct Params {
  count: u32,
  kept_rank: u32,
  reduced_rank: u32,
  factor: f32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of x, with the strides in bytes: those that are kept, then those that are reduced
  @align(16) average: Average,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

alias Partial = vec4<i32>;

fn combined(a: Partial, b: Partial) -> Partial {
  return a + b;
}

// The byte of x at which the terms of an output begin.
fn first_byte(output: u32) -> u32 {
  return walk(output, 0u, params.kept_rank);
}

// How many bytes after the first a term stands.
fn term(index: u32) -> u32 {
  return walk(index, params.kept_rank, params.reduced_rank);
}

fn term_at(byte: u32) -> i32 {
  let v = extractBits(bitcast<i32>(x[byte / 4u]), byte % 4u * 8u, 8u);
  if (looked_up) {
    return table[v + 128];
  }
  return v;
}

fn part_of_sum(word: u32, lane: u32) -> vec4<i32> {
  let elements = elements_of(params.tensor, word);
  var sum = vec4<i32>();
  if (together) {
    let base = first_byte(elements.first);
    for (var i = lane; i < params.count; i += lanes) {
      sum += terms_of(x[(base + term(i)) / 4u]);
    }
    return sum;
  }
  for (var k = 0u; k < elements.count; k++) {
    let base = first_byte(elements.first + k * params.tensor.inner);
    for (var i = lane; i < params.count; i += lanes) {
      sum[k] += term_at(base + term(i));
    }
  }
  return sum;
}

fn run(word: u32, local: u32) {
  var part = vec4<i32>();
  if (word < params.tensor.words) {
    part = part_of_sum(word, local % lanes);
  }
  let sum = reduced(part, local);
  if (local % lanes == 0u && word < params.tensor.words) {
    write(word, averaged(sum, params.count, params.factor, 0u));
  }
}
