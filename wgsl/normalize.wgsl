// Rows less their mean over their standard deviation, or one of the two; `lanes` threads share a row.

override lanes: u32 = 1u;
override result: u32 = 0u;  // 0: the rows; 1: their means; 2: 1 / their standard deviations

struct Params {
  rows: u32,
  count: u32,
  groups: u32,
  inner: u32,
  weight_step: u32,
  bias_step: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> partial: array<f32, 64>;

// The sum of a row's lanes, for each of them.
fn total(value: f32, local: u32) -> f32 {
  workgroupBarrier();  // the total before has been read
  partial[local] = value;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partial[local] += partial[local + half];
    }
  }
  workgroupBarrier();
  return partial[local - local % lanes];
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let row = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  let lane = local % lanes;
  let base = row * params.count;
  let count = select(0u, params.count, row < params.rows);
  var sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    sum += x[base + i];
  }
  let mean = total(sum, local) / f32(max(params.count, 1u));
  sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    let d = x[base + i] - mean;
    sum += d * d;
  }
  // two passes: a difference of sums of squares would lose what a large mean hides
  let rstd = inverseSqrt(total(sum, local) / f32(params.count) + params.eps);
  if (result > 0u) {
    if (lane == 0u && row < params.rows) {
      y[row] = select(mean, rstd, result == 2u);
    }
    return;
  }
  let first = row % params.groups * (params.count / params.inner);
  for (var i = lane; i < count; i += lanes) {
    let channel = first + i / params.inner;
    y[base + i] = (x[base + i] - mean) * rstd * weight[channel * params.weight_step] + bias[channel * params.bias_step];
  }
}
