// The largest element of each window, NaN above all, or where it stands in its map; one thread an output.

override index: bool = false;  // write where it stands, as int32
override wide: bool = false;   // or as int64

struct Params {
  outputs: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// The first tap of a window that is not in the padding before the map.
fn first_tap(start: u32, pad: u32, dilation: u32) -> u32 {
  return (max(start, pad) - start + dilation - 1u) / dilation;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * 64u + local;
  if (output >= params.outputs) {
    return;
  }
  // counted from the first row and column of the padding
  let top = output / params.y_width % params.y_height * params.stride_height;
  let left = output % params.y_width * params.stride_width;
  let plane = output / params.y_width / params.y_height * params.x_height * params.x_width;
  let kh0 = first_tap(top, params.pad_height, params.dilation_height);
  let kw0 = first_tap(left, params.pad_width, params.dilation_width);

  var at = (top + kh0 * params.dilation_height - params.pad_height) * params.x_width
    + left + kw0 * params.dilation_width - params.pad_width;
  var value = bitcast<u32>(0xff800000u);
  var best = rank(bitcast<f32>(value));
  for (var kh = kh0; kh < params.kernel_height; kh++) {
    let row = top + kh * params.dilation_height - params.pad_height;
    if (row >= params.x_height) {
      break;
    }
    for (var kw = kw0; kw < params.kernel_width; kw++) {
      let column = left + kw * params.dilation_width - params.pad_width;
      if (column >= params.x_width) {
        break;
      }
      let here = row * params.x_width + column;
      let v = x[plane + here];
      let r = rank(v);
      if (r > best || r == RANK_OF_NAN) {
        best = r;
        value = bitcast<u32>(v);
        at = here;
      }
    }
  }
  if (!index) {
    y[output] = value;
  } else if (wide) {
    y[2u * output] = at;
    y[2u * output + 1u] = 0u;
  } else {
    y[output] = at;
  }
}
