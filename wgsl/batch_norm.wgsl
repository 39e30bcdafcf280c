// Each channel less its mean over its standard deviation, times weight, plus bias; one thread an element.

struct Params {
  outputs: u32,
  channels: u32,
  inner: u32,
  weight_step: u32,
  bias_step: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> mean: array<f32>;
@group(0) @binding(4) var<storage, read> variance: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (i >= params.outputs) {
    return;
  }
  let c = i / params.inner % params.channels;
  let scale = inverseSqrt(variance[c] + params.eps) * weight[c * params.weight_step];
  y[i] = (x[i] - mean[c]) * scale + bias[c * params.bias_step];
}
