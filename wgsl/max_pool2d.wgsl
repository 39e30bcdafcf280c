// uses threads
// uses floats
// uses window
// uses found
// The largest element of each window, NaN above all, or where it stands in its map; one thread a result.

struct Params {
  results: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// The first tap of a window that is not in the padding before the map.
fn first_tap(start: u32, pad: u32, dilation: u32) -> u32 {
  return (max(start, pad) - start + dilation - 1u) / dilation;
}

fn run(result: u32) {
  if (result >= params.results) {
    return;
  }
  // counted from the first row and column of the padding
  let place = place_in_y(result);
  let top = place.row * params.window.stride_height;
  let left = place.column * params.window.stride_width;
  let plane = pixel_of_x(place.map, 0u, 0u);
  let kh0 = first_tap(top, params.window.pad_height, params.window.dilation_height);
  let kw0 = first_tap(left, params.window.pad_width, params.window.dilation_width);

  var at = (top + kh0 * params.window.dilation_height - params.window.pad_height) * params.maps.x_width
    + left + kw0 * params.window.dilation_width - params.window.pad_width;
  var value = SIGN_BIT | INFINITY_BITS;
  var best = rank(bitcast<f32>(value));
  for (var kh = kh0; kh < params.window.kernel_height; kh++) {
    let row = top + kh * params.window.dilation_height - params.window.pad_height;
    if (row >= params.maps.x_height) {
      break;
    }
    for (var kw = kw0; kw < params.window.kernel_width; kw++) {
      let column = left + kw * params.window.dilation_width - params.window.pad_width;
      if (column >= params.maps.x_width) {
        break;
      }
      let here = row * params.maps.x_width + column;
      let v = x[plane + here];
      let r = rank(v);
      if (r > best || r == RANK_OF_NAN) {
        best = r;
        value = bitcast<u32>(v);
        at = here;
      }
    }
  }
  store(result, value, at);
}
