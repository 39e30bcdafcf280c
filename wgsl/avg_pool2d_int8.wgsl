// The mean of each window of a channels-last int8 map: summed in int32, scaled once; one thread a word of four channels.

// uses average

struct Params {
  words: u32,
  channel_words: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
  factor_columns: u32,
  x_zero_point: i32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
}

// of the windows' rows, then of their columns: the first, the one after the last, and the row or column of `factors`
@group(0) @binding(0) var<storage, read> windows: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> factors: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<i32>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words) {
    return;
  }
  let word = index % params.channel_words;
  let pixel = index / params.channel_words;
  let n = pixel / (params.y_width * params.y_height);
  let rows = windows[pixel / params.y_width % params.y_height];
  let columns = windows[params.y_height + pixel % params.y_width];
  var sum = vec4<i32>();
  for (var row = rows.x; row < rows.y; row++) {
    for (var column = columns.x; column < columns.y; column++) {
      sum += terms_of(x[((n * params.x_height + row) * params.x_width + column) * params.channel_words + word]);
    }
  }
  sum -= i32((rows.y - rows.x) * (columns.y - columns.x)) * params.x_zero_point;
  y[index] = averaged(sum, factors[rows.z * params.factor_columns + columns.z]);
}
