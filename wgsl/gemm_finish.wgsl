// Adds up the slices of K that wgsl/gemm.wgsl left as partial sums, and makes int8 of them; one thread a word of y.

struct Params {
  rows: u32,
  n_words: u32,
  slices: u32,
  y_stride: u32,
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> parts: array<vec4<i32>>;
@group(0) @binding(1) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  let words = params.rows * params.n_words;
  if (index >= words) {
    return;
  }
  let word = index % params.n_words;
  var acc = -params.x_zero_point * sums[word];
  for (var slice = 0u; slice < params.slices; slice++) {
    acc += parts[slice * words + index];
  }
  y[index / params.n_words * params.y_stride + word] = requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}
