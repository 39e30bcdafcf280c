// The mean of each of y_height × y_width windows that divide a map; one thread an output.

struct Params {
  outputs: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * 64u + local;
  if (output >= params.outputs) {
    return;
  }
  let size = vec2<u32>(params.x_height, params.x_width);
  let windows = vec2<u32>(params.y_height, params.y_width);
  let place = vec2<u32>(output / params.y_width % params.y_height, output % params.y_width);
  let first = place * size / windows;
  let last = ((place + 1u) * size + windows - 1u) / windows;
  let plane = output / params.y_width / params.y_height * size.x * size.y;
  var sum = 0.0;
  for (var row = first.x; row < last.x; row++) {
    for (var column = first.y; column < last.y; column++) {
      sum += x[plane + row * size.y + column];
    }
  }
  let area = last - first;
  y[output] = sum / f32(area.x * area.y);
}
