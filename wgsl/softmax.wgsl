// Softmax, or its logarithm, along one dimension; `lanes` threads share a row, each taking every lanes-th element.

override lanes: u32 = 1u;
override log_of: bool = false;

struct Params {
  rows: u32,
  count: u32,
  inner: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<f32, 64>;

// exp and log may lose a NaN.
fn exp_or_nan(v: f32) -> f32 {
  return select(exp(v), v, is_nan(v));
}

fn log_or_nan(v: f32) -> f32 {
  return select(log(v), v, is_nan(v));
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let row = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  let lane = local % lanes;
  let base = row / params.inner * params.count * params.inner + row % params.inner;
  let count = select(0u, params.count, row < params.rows);

  var top = x[base];  // of a row that does not exist: any value, for nobody
  for (var i = lane; i < count; i += lanes) {
    top = max(top, x[base + i * params.inner]);
  }
  partial[local] = top;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[local] = max(partial[local], partial[local + half]);
    }
  }
  workgroupBarrier();
  top = partial[local - lane];
  workgroupBarrier();

  var sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    sum += exp_or_nan(x[base + i * params.inner] - top);
  }
  partial[local] = sum;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[local] += partial[local + half];
    }
  }
  workgroupBarrier();
  sum = partial[local - lane];

  for (var i = lane; i < count; i += lanes) {
    let shifted = x[base + i * params.inner] - top;
    y[base + i * params.inner] = select(exp_or_nan(shifted) / sum, shifted - log_or_nan(sum), log_of);
  }
}
