// Each output lies between two rows and two columns of x, as `taps` and the second ones' `shares` say (rows first); one
// thread an output.

struct Params {
  outputs: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> taps: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> shares: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * 64u + local;
  if (output >= params.outputs) {
    return;
  }
  let oh = output / params.y_width % params.y_height;
  let ow = params.y_height + output % params.y_width;
  let plane = output / params.y_width / params.y_height * params.x_height;
  let rows = (plane + taps[oh]) * params.x_width;
  let columns = taps[ow];
  let upper = x[rows.x + columns.x] * (1.0 - shares[ow]) + x[rows.x + columns.y] * shares[ow];
  let lower = x[rows.y + columns.x] * (1.0 - shares[ow]) + x[rows.y + columns.y] * shares[ow];
  y[output] = upper * (1.0 - shares[oh]) + lower * shares[oh];
}
