// uses lanes
// uses tree
// Rows less their mean, over their standard deviation; or rows over their root mean square; or the mean of each row, or the
// inverse of its deviation. `lanes` threads share a row.

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
  weight_stride: u32,
  bias_stride: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

alias Partial = f32;

fn combined(a: Partial, b: Partial) -> Partial {
  return a + b;
}

fn place(row: u32, i: u32) -> u32 {
  if (in_runs) {
    return (i / params.run * params.rows + row) * params.run + i % params.run;
  }
  return row * params.count + i;
}

fn run(row: u32, local: u32) {
  let lane = local % lanes;
  let count = select(0u, params.count, row < params.rows);
  var sum = 0.0;
  var mean = 0.0;
  if (centered) {
    for (var i = lane; i < count; i += lanes) {
      sum += x[place(row, i)];
    }
    mean = reduced_for_all(sum, local) / f32(max(params.count, 1u));
  }
  sum = 0.0;
  for (var i = lane; i < count; i += lanes) {
    let d = x[place(row, i)] - mean;
    sum += d * d;
  }
  // two passes: a difference of sums of squares would lose what a large mean hides
  let rstd = inverseSqrt(reduced_for_all(sum, local) / f32(params.count) + params.eps);
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
    y[at] = (x[at] - mean) * rstd * weight[channel * params.weight_stride] + bias[channel * params.bias_stride];
  }
}
