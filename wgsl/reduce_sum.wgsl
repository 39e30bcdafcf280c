// Sums over any dimensions, divided by a number, or products; `lanes` threads share an output, each taking every
// lanes-th element.

override lanes: u32 = 1u;
override product: bool = false;

struct Params {
  outputs: u32,
  count: u32,
  kept_sizes: array<vec4<u32>, 1>,
  kept_strides: array<vec4<u32>, 1>,
  reduced_sizes: array<vec4<u32>, 1>,
  reduced_strides: array<vec4<u32>, 1>,
  divisor: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<f32, 64>;

fn combined(v: f32, w: f32) -> f32 {
  if (product) {
    return v * w;
  }
  return v + w;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  var total = select(0.0, 1.0, product);
  if (output < params.outputs) {
    let base = strided(output, params.kept_sizes[0], params.kept_strides[0]);
    for (var i = local % lanes; i < params.count; i += lanes) {
      total = combined(total, x[base + strided(i, params.reduced_sizes[0], params.reduced_strides[0])]);
    }
  }
  partial[local] = total;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partial[local] = combined(partial[local], partial[local + half]);
    }
  }
  if (local % lanes == 0u && output < params.outputs) {
    y[output] = partial[local] / params.divisor;
  }
}
