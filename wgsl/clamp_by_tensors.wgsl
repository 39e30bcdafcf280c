// uses elements
// uses walk_three
// uses floats
// y = x within bounds, all three broadcast; elements of four bytes.

override integer: bool = false;

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in x, low and high
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> low: array<u32>;
@group(0) @binding(2) var<storage, read> high: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// The larger of two, or the smaller; of floats NaN, where either is.
fn chosen(a: u32, b: u32, smaller: bool) -> u32 {
  if (integer) {
    let first = bitcast<i32>(a) > bitcast<i32>(b);
    return select(b, a, first != smaller);
  }
  let v = bitcast<f32>(a);
  let w = bitcast<f32>(b);
  if (is_nan(v)) {
    return a;
  }
  return select(b, a, !is_nan(w) && rank(v) != rank(w) && (rank(v) > rank(w)) != smaller);
}

fn y_bytes() -> u32 {
  return 4u;
}

fn element(i: u32) -> vec2<u32> {
  let at = walk(i, 0u, params.rank);
  return vec2<u32>(chosen(chosen(x[at.x], low[at.y], false), high[at.z], true), 0u);
}
