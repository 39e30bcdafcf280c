// y = x within bounds, all three broadcast; elements of four bytes, one a thread.

override integer: bool = false;

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,
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

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (i >= params.count) {
    return;
  }
  // an axis is its size and the strides in the three; the innermost comes first
  var at = vec3<u32>();
  var rest = i;
  for (var d = 0u; d < params.rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * axis.yzw;
    rest /= axis.x;
  }
  y[i] = chosen(chosen(x[at.x], low[at.y], false), high[at.z], true);
}
