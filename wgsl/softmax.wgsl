// uses lanes
// uses tree
// uses floats
// Softmax, or its logarithm, along one dimension; `lanes` threads share a row, each taking every lanes-th element.

override log_of: bool = false;

struct Params {
  rows: u32,
  count: u32,
  inner: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

alias Partial = f32;

var<private> summing: bool;  // or else the largest is looked for

fn combined(a: Partial, b: Partial) -> Partial {
  if (summing) {
    return a + b;
  }
  return max(a, b);
}

// A GPU's exp and log may give a number for NaN.
fn exp_or_nan(v: f32) -> f32 {
  return select(exp(v), v, is_nan(v));
}

fn log_or_nan(v: f32) -> f32 {
  return select(log(v), v, is_nan(v));
}

fn run(row: u32, local: u32) {
  let lane = local % lanes;
  let base = row / params.inner * params.count * params.inner + row % params.inner;
  let count = select(0u, params.count, row < params.rows);

  var top = x[base];  // of a row that does not exist: any value, for nobody
  for (var i = lane; i < count; i += lanes) {
    top = max(top, x[base + i * params.inner]);
  }
  top = reduced_for_all(top, local);

  summing = true;
  var sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    sum += exp_or_nan(x[base + i * params.inner] - top);
  }
  sum = reduced_for_all(sum, local);

  for (var i = lane; i < count; i += lanes) {
    let shifted = x[base + i * params.inner] - top;
    y[base + i * params.inner] = select(exp_or_nan(shifted) / sum, shifted - log_or_nan(sum), log_of);
  }
}
