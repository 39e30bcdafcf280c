// Squared distances from the mean, summed over any dimensions and divided by a number; `lanes` threads share an output,
// each taking every lanes-th element, twice: the mean comes first, as a difference of large sums would cancel.

override lanes: u32 = 1u;

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

// Of the threads that share an output.
fn sum_of(v: f32, local: u32) -> f32 {
  workgroupBarrier();
  partial[local] = v;
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
  let output = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  let base = strided(output, params.kept_sizes[0], params.kept_strides[0]);
  let count = select(0u, params.count, output < params.outputs);
  var sum = 0.0;
  for (var i = local % lanes; i < count; i += lanes) {
    sum += x[base + strided(i, params.reduced_sizes[0], params.reduced_strides[0])];
  }
  let mean = sum_of(sum, local) / f32(params.count);
  var squares = 0.0;
  for (var i = local % lanes; i < count; i += lanes) {
    let distance = x[base + strided(i, params.reduced_sizes[0], params.reduced_strides[0])] - mean;
    squares += distance * distance;
  }
  let total = sum_of(squares, local);
  if (local % lanes == 0u && output < params.outputs) {
    y[output] = total / params.divisor;
  }
}
