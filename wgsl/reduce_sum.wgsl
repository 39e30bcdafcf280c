// uses reduction
// Sums over any dimensions, divided by a number, or products; `lanes` threads share a result, each taking every
// lanes-th element.

override product: bool = false;

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
  if (product) {
    return a * b;
  }
  return a + b;
}

fn run(result: u32, local: u32) {
  var total = select(0.0, 1.0, product);
  if (result < params.results) {
    let base = first_term(result);
    for (var i = local % lanes; i < params.count; i += lanes) {
      total = combined(total, x[base + term(i)]);
    }
  }
  let whole = reduced(total, local);
  if (local % lanes == 0u && result < params.results) {
    y[result] = whole / params.divisor;
  }
}
