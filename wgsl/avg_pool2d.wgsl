// uses threads
// uses window
// The sum of each window over a divisor; one thread a result.

override count_include_pad: bool = true;

struct Params {
  results: u32,
  divisor: i32,  // 0: each window is divided by the number of its elements
  @align(16) maps: Maps,
  @align(16) window: Window,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(result: u32) {
  if (result >= params.results) {
    return;
  }
  let size = vec2<u32>(params.maps.x_height, params.maps.x_width);
  let pad = vec2<u32>(params.window.pad_height, params.window.pad_width);
  let at = place_in_y(result);
  // counted from the first row and column of the padding, and ending with the padding after the map
  let start = vec2<u32>(at.row, at.column) * vec2<u32>(params.window.stride_height, params.window.stride_width);
  let end = min(start + vec2<u32>(params.window.kernel_height, params.window.kernel_width), size + 2u * pad);
  // the part within the map
  let first = max(start, pad) - pad;
  let last = min(max(end, pad) - pad, size);
  var sum = 0.0;
  for (var row = first.x; row < last.x; row++) {
    for (var column = first.y; column < last.y; column++) {
      sum += x[pixel_of_x(at.map, row, column)];
    }
  }
  let area = select(max(last, first) - first, end - start, count_include_pad);
  let count = select(i32(area.x * area.y), params.divisor, params.divisor != 0);
  y[result] = sum / f32(select(count, 1, count == 0));
}
