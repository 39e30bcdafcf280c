// Products of few rows: `lanes` threads share an output, each taking every lanes-th term. Neighbouring threads read
// neighbouring elements of w, be they terms or columns.

override lanes: u32 = 1u;
override transposed: bool = false;  // w is [n, k]

struct Params {
  outputs: u32,
  m: u32,
  n: u32,
  k: u32,
  w_k: u32,
  w_n: u32,
  addend_m: u32,
  addend_n: u32,
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> addend: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> partial: array<f32, 64>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let group = 64u / lanes;
  let lane = select(local / group, local % lanes, transposed);
  let place = select(local % group, local / lanes, transposed);
  let output = flat_workgroup(id, grid) * group + place;
  let n = output % params.n;
  let row = output / params.n;
  var sum = 0.0;
  if (output < params.outputs) {
    let at = row / params.m * params.k * params.n + n * params.w_n;
    for (var k = lane; k < params.k; k += lanes) {
      sum += x[row * params.k + k] * w[at + k * params.w_k];
    }
  }
  let mine = place * lanes + lane;
  partial[mine] = sum;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[mine] += partial[mine + half];
    }
  }
  if (lane == 0u && output < params.outputs) {
    var v = params.alpha * partial[mine];
    if (params.beta != 0.0) {
      v += params.beta * addend[row % params.m * params.addend_m + n * params.addend_n];
    }
    y[output] = v;
  }
}
