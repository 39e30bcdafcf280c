// uses threads
// uses maps
// The means of y_height × y_width windows that divide each map; one thread a result.

struct Params {
  results: u32,
  @align(16) maps: Maps,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(result: u32) {
  if (result >= params.results) {
    return;
  }
  let size = vec2<u32>(params.maps.x_height, params.maps.x_width);
  let windows = vec2<u32>(params.maps.y_height, params.maps.y_width);
  let at = place_in_y(result);
  let place = vec2<u32>(at.row, at.column);
  let first = place * size / windows;
  let last = ((place + 1u) * size + windows - 1u) / windows;
  var sum = 0.0;
  for (var row = first.x; row < last.x; row++) {
    for (var column = first.y; column < last.y; column++) {
      sum += x[pixel_of_x(at.map, row, column)];
    }
  }
  let area = last - first;
  y[result] = sum / f32(area.x * area.y);
}
