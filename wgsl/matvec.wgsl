// uses workgroups
// uses tree
// uses product
// Products of few rows: `lanes` threads share a result, each taking every lanes-th term. Neighbouring threads read
// neighbouring elements of w, be they terms or columns.

override lanes: u32 = 1u;
override transposed: bool = false;  // w is [n, k]

struct Params {
  results: u32,
  @align(16) product: Product,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> addend: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

alias Partial = f32;

fn combined(a: Partial, b: Partial) -> Partial {
  return a + b;
}

fn run(workgroup: u32, local: u32) {
  let group = 64u / lanes;
  let lane = select(local / group, local % lanes, transposed);
  let place = select(local % group, local / lanes, transposed);
  let result = workgroup * group + place;
  let n = result % params.product.n;
  let row = result / params.product.n;
  var sum = 0.0;
  if (result < params.results) {
    let at = row / params.product.m * params.product.k * params.product.n + n * params.product.w_n_stride;
    for (var k = lane; k < params.product.k; k += lanes) {
      sum += x[row * params.product.k + k] * w[at + k * params.product.w_k_stride];
    }
  }
  let total = reduced(sum, place * lanes + lane);
  if (lane == 0u && result < params.results) {
    y[result] = finished(total, row % params.product.m, n);
  }
}
