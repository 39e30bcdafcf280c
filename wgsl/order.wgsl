// uses threads
// uses floats
// uses found
// The first elements of each row in sorted order, or where they stood. A thread counts the elements of the row that come
// before its own, which is kept where they are fewer than `kept`.

override integer: bool = false;  // int32 in place of float32
override descending: bool = false;

struct Params {
  count: u32,
  size: u32,  // of a row, whose elements are `inner` apart
  inner: u32,
  kept: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// Lower ranks come first; NaN is above all numbers.
fn ranked(bits: u32) -> i32 {
  let r = select(rank(bitcast<f32>(bits)), bitcast<i32>(bits), integer);
  return select(r, ~r, descending);
}

fn run(i: u32) {
  if (i >= params.count) {
    return;
  }
  let column = i % params.inner;
  let row = i / params.inner / params.size;
  let at = i / params.inner % params.size;
  let base = row * params.size * params.inner + column;
  let mine = ranked(x[i]);
  var place = 0u;
  for (var j = 0u; j < params.size && place < params.kept; j++) {
    let other = ranked(x[base + j * params.inner]);
    place += u32(other < mine || (other == mine && j < at));
  }
  if (place >= params.kept) {
    return;
  }
  let result = (row * params.kept + place) * params.inner + column;
  store(result, x[i], at);
}
