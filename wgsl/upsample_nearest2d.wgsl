// Each output is the element of x in the row and column that `taps` names (rows first); one thread an output.

struct Params {
  outputs: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * 64u + local;
  if (output >= params.outputs) {
    return;
  }
  let row = taps[output / params.y_width % params.y_height];
  let column = taps[params.y_height + output % params.y_width];
  let plane = output / params.y_width / params.y_height;
  y[output] = x[(plane * params.x_height + row) * params.x_width + column];
}
