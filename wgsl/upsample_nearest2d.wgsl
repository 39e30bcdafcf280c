// uses threads
// uses maps
// Each result is the element of x in the row and column that `taps` names (for the rows of y first, then
// for its columns); one thread a result.

struct Params {
  results: u32,
  @align(16) maps: Maps,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn run(result: u32) {
  if (result >= params.results) {
    return;
  }
  let at = place_in_y(result);
  y[result] = x[pixel_of_x(at.map, taps[at.row], taps[params.maps.y_height + at.column])];
}
