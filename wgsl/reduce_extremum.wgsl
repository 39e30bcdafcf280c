// uses reduction
// uses floats
// uses found
// The largest or smallest element over any dimensions, or where the first such stands; NaN comes before all others.
// `lanes` threads share a result, each taking every lanes-th element.

override integer: bool = false;  // int32 in place of float32
override smallest: bool = false;

struct Params {
  results: u32,
  count: u32,
  kept: Axes,
  reduced: Axes,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

struct Best {
  rank: i32,
  at: u32,
}

alias Partial = Best;

// Of the bits of an element.
fn ranked(v: u32) -> i32 {
  if (integer) {
    return bitcast<i32>(select(v, ~v, smallest));
  }
  let r = rank(bitcast<f32>(v));
  return select(r, -r, smallest && r != RANK_OF_NAN);
}

// The better of two.
fn combined(a: Partial, b: Partial) -> Partial {
  if (b.rank > a.rank || (b.rank == a.rank && b.at < a.at)) {
    return b;
  }
  return a;
}

fn run(result: u32, local: u32) {
  let base = first_term(result);
  var best = Best(i32(0x80000000u), 0xffffffffu);
  if (result < params.results) {
    for (var i = local % lanes; i < params.count; i += lanes) {
      best = combined(best, Best(ranked(x[base + term(i)]), i));
    }
  }
  let at = reduced(best, local).at;
  if (local % lanes == 0u && result < params.results) {
    store(result, x[base + term(at)], at);
  }
}
