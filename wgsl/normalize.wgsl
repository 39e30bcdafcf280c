// Rows less their mean over their standard deviation, or over their root mean square, or one of these numbers; `lanes`
// threads share a row.

override lanes: u32 = 1u;
override result: u32 = ROWS;
override centered: bool = true;  // or else the mean is taken for 0
override in_runs: bool = false;  // a row lies in pieces of `run` elements, those of all rows in turns

const ROWS = 0u;
const MEANS = 1u;
const INVERSE_DEVIATIONS = 2u;

struct Params {
  rows: u32,
  count: u32,
  groups: u32,
  inner: u32,
  run: u32,
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

fn place(row: u32, i: u32) -> u32 {
  if (in_runs) {
    return (i / params.run * params.rows + row) * params.run + i % params.run;
  }
  return row * params.count + i;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let row = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  let lane = local % lanes;
  let count = select(0u, params.count, row < params.rows);
  var sum = 0.0;
  var mean = 0.0;
  if (centered) {
    for (var i = lane; i < count; i += lanes) {
      sum += x[place(row, i)];
    }
    mean = total(sum, local) / f32(max(params.count, 1u));
  }
  sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    let d = x[place(row, i)] - mean;
    sum += d * d;
  }
  // two passes: a difference of sums of squares would lose what a large mean hides
  let rstd = inverseSqrt(total(sum, local) / f32(params.count) + params.eps);
  if (result != ROWS) {
    if (lane == 0u && row < params.rows) {
      y[row] = select(mean, rstd, result == INVERSE_DEVIATIONS);
    }
    return;
  }
  let first = row % params.groups * (params.count / params.inner);
  for (var i = lane; i < count; i += lanes) {
    let channel = first + i / params.inner;
    let at = place(row, i);
    y[at] = (x[at] - mean) * rstd * weight[channel * params.weight_step] + bias[channel * params.bias_step];
  }
}
