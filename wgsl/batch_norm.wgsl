// uses threads
// Each channel less its mean over its standard deviation, times weight, plus bias; one thread an element.

struct Params {
  results: u32,
  channels: u32,
  inner: u32,
  weight_stride: u32,
  bias_stride: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> mean: array<f32>;
@group(0) @binding(4) var<storage, read> variance: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

fn run(i: u32) {
  if (i >= params.results) {
    return;
  }
  let channel = i / params.inner % params.channels;
  let scale = inverseSqrt(variance[channel] + params.eps) * weight[channel * params.weight_stride];
  y[i] = (x[i] - mean[channel]) * scale + bias[channel * params.bias_stride];
}
