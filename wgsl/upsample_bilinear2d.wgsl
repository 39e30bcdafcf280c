// uses threads
// uses maps
// Each result is interpolated between two rows and two columns of x: `taps` names them, and `shares` has the weight of the
// second (for the rows of y first, then for its columns). One thread a result.

struct Params {
  results: u32,
  @align(16) maps: Maps,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> taps: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> shares: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn run(result: u32) {
  if (result >= params.results) {
    return;
  }
  let at = place_in_y(result);
  let row = at.row;
  let column = params.maps.y_height + at.column;
  let upper_line = pixel_of_x(at.map, taps[row].x, 0u);
  let lower_line = pixel_of_x(at.map, taps[row].y, 0u);
  let columns = taps[column];
  let upper = x[upper_line + columns.x] * (1.0 - shares[column]) + x[upper_line + columns.y] * shares[column];
  let lower = x[lower_line + columns.x] * (1.0 - shares[column]) + x[lower_line + columns.y] * shares[column];
  y[result] = upper * (1.0 - shares[row]) + lower * shares[row];
}
