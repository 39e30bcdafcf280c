// uses threads
// uses maps
// Each output is the element of x in the row and column that `taps` names (rows first); one thread an output.

struct Params {
  outputs: u32,
  @align(16) maps: Maps,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn run(output: u32) {
  if (output >= params.outputs) {
    return;
  }
  let at = place_in_y(output);
  y[output] = x[pixel_of_x(at.map, taps[at.row], taps[params.maps.y_height + at.column])];
}
