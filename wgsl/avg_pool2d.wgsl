// The sum of each window over a divisor; one thread an output.

override count_include_pad: bool = true;

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
  divisor: i32,  // 0: the number of elements
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
  let pad = vec2<u32>(params.pad_height, params.pad_width);
  let place = vec2<u32>(output / params.y_width % params.y_height, output % params.y_width);
  // counted from the first row and column of the padding, and ending with the padding after the map
  let start = place * vec2<u32>(params.stride_height, params.stride_width);
  let end = min(start + vec2<u32>(params.kernel_height, params.kernel_width), size + 2u * pad);
  // the part within the map
  let first = max(start, pad) - pad;
  let last = min(max(end, pad) - pad, size);
  let plane = output / params.y_width / params.y_height * size.x * size.y;
  var sum = 0.0;
  for (var row = first.x; row < last.x; row++) {
    for (var column = first.y; column < last.y; column++) {
      sum += x[plane + row * size.y + column];
    }
  }
  let area = select(max(last, first) - first, end - start, count_include_pad);
  let count = select(i32(area.x * area.y), params.divisor, params.divisor != 0);
  y[output] = sum / f32(select(count, 1, count == 0));
}
