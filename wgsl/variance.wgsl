// uses reduction
// Squared distances from the mean, summed over any dimensions and divided by a number; `lanes` threads share a result,
// each taking every lanes-th element, twice: the mean comes first, as a difference of large sums would cancel.

struct Params {
  results: u32,
  count: u32,
  divisor: f32,
  kept: Axes,
  reduced: Axes,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

alias Partial = f32;

fn combined(a: Partial, b: Partial) -> Partial {
  return a + b;
}

fn run(result: u32, local: u32) {
  let base = first_term(result);
  let count = select(0u, params.count, result < params.results);
  var sum = 0.0;
  for (var i = local % lanes; i < count; i += lanes) {
    sum += x[base + term(i)];
  }
  let mean = reduced_for_all(sum, local) / f32(params.count);
  var squares = 0.0;
  for (var i = local % lanes; i < count; i += lanes) {
    let distance = x[base + term(i)] - mean;
    squares += distance * distance;
  }
  let total = reduced_for_all(squares, local);
  if (local % lanes == 0u && result < params.results) {
    y[result] = total / params.divisor;
  }
}
