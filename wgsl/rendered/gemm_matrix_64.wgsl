enable chromium_experimental_subgroup_matrix;
enable subgroups;
diagnostic(off, chromium.subgroup_matrix_uniformity);
fn flat_workgroup(id: vec3<u32>, grid: vec3<u32>) -> u32 {
  return id.x + id.y * grid.x;
}
struct Maps {
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
}
struct Place {
  map: u32,
  row: u32,
  column: u32,
}
fn place_in_y(pixel: u32) -> Place {
  let row = pixel / params.maps.y_width;
  return Place(row / params.maps.y_height, row % params.maps.y_height, pixel % params.maps.y_width);
}
fn pixel_of_x(map: u32, row: u32, column: u32) -> u32 {
  return (map * params.maps.x_height + row) * params.maps.x_width + column;
}
struct Window {
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
}
fn first_row(row: u32) -> i32 {
  return i32(row * params.window.stride_height) - i32(params.window.pad_height);
}
fn first_column(column: u32) -> i32 {
  return i32(column * params.window.stride_width) - i32(params.window.pad_width);
}
fn tap_row(tap: u32) -> i32 {
  return i32(tap * params.window.dilation_height);
}
fn tap_column(tap: u32) -> i32 {
  return i32(tap * params.window.dilation_width);
}
fn is_row(row: i32) -> bool {
  return row >= 0 && row < i32(params.maps.x_height);
}
fn is_column(column: i32) -> bool {
  return column >= 0 && column < i32(params.maps.x_width);
}
fn pack(q: vec4<i32>) -> u32 {
  let b = vec4<u32>(q & vec4<i32>(255)) * vec4<u32>(1u, 0x100u, 0x10000u, 0x1000000u);
  return b.x | b.y | b.z | b.w;
}
fn rounded(v: vec4<f32>, zero_point: i32, low: f32, high: f32) -> vec4<i32> {
  let bounded = clamp(v, vec4<f32>(low - f32(zero_point)), vec4<f32>(high - f32(zero_point)));
  return bitcast<vec4<i32>>(bounded + 0x1.8p23f) + (zero_point - 0x4b400000);
}
struct Epilogue {
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
  table: u32,
}
override through_table: bool = false;
fn entry(q: i32) -> u32 {
  let at = u32(q + 128);
  let words = channel[params.epilogue.table + at / 16u];
  return (words[at / 4u % 4u] >> (at % 4u * 8u)) & 255u;
}
fn requantized(acc: vec4<i32>, word: u32) -> u32 {
  let v = vec4<f32>(acc) * params.epilogue.x_scale * bitcast<vec4<f32>>(channel[2u * word])
    + bitcast<vec4<f32>>(channel[2u * word + 1u]);
  let activated = max(v, vec4<f32>(params.epilogue.activation_min));
  let q = rounded(
    activated * params.epilogue.inv_y_scale, params.epilogue.y_zero_point, params.epilogue.y_min, params.epilogue.y_max);
  if (through_table) {
    return entry(q.x) | (entry(q.y) << 8u) | (entry(q.z) << 16u) | (entry(q.w) << 24u);
  }
  return pack(q);
}
const MATRIX = 0u;
const CONVOLUTION = 1u;
const TRANSPOSED = 2u;
override rows_are: u32 = MATRIX;
override pixel_words: u32 = 4u;
override phase_rows: u32 = 1u;
override phase_columns: u32 = 1u;
override tap_rows: u32 = 1u;
override tap_columns: u32 = 1u;
struct Params {
  rows: u32,
  n_words: u32,
  tiles_n: u32,
  tiles: u32,
  y_stride: u32,
  k_steps: u32,
  channel_steps: u32,
  rows_height: u32,
  rows_width: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
}
@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
fn remainder(phase: u32) -> vec2<u32> {
  return vec2<u32>(phase / phase_columns, phase % phase_columns);
}
fn taps(phase: u32) -> vec2<u32> {
  let most = vec2<u32>(tap_rows + phase_rows - 1u, tap_columns + phase_columns - 1u);
  return (most - remainder(phase)) / vec2<u32>(phase_rows, phase_columns);
}
fn first_pixel(phase: u32) -> vec2<u32> {
  let strides = vec2<u32>(phase_rows, phase_columns);
  return (remainder(phase) + strides - vec2<u32>(params.window.pad_height, params.window.pad_width) % strides) % strides;
}
fn phases() -> u32 {
  return phase_rows * phase_columns;
}
fn quotient(n: u32, d: u32) -> u32 {
  return u32((f32(n) + 0.5) / f32(d));
}
fn steps(phase: u32) -> u32 {
  if (rows_are == TRANSPOSED) {
    return taps(phase).x * taps(phase).y * params.channel_steps;
  }
  return params.k_steps;
}
fn first_weight(phase: u32) -> u32 {
  if (rows_are != TRANSPOSED) {
    return 0u;
  }
  let whole = vec2<u32>(tap_rows / phase_rows, tap_columns / phase_columns);
  let left_over = vec2<u32>(tap_rows % phase_rows, tap_columns % phase_columns);
  let before = whole * remainder(phase) + min(left_over, remainder(phase));
  return (before.x * tap_columns + taps(phase).x * before.y) * params.channel_steps * 4u * params.n_words;
}
fn origin(phase: u32, row: u32) -> vec3<i32> {
  if (rows_are == MATRIX) {
    return vec3<i32>(i32(row * params.k_steps), 0, 0);
  }
  let pixels = params.rows_height * params.rows_width;
  let image = i32(row / pixels * params.maps.x_height * params.maps.x_width);
  let spot = vec2<i32>(vec2<u32>(row % pixels / params.rows_width, row % pixels % params.rows_width));
  let pad = vec2<i32>(vec2<u32>(params.window.pad_height, params.window.pad_width));
  if (rows_are == TRANSPOSED) {
    let first = vec2<i32>(first_pixel(phase)) + pad - vec2<i32>(remainder(phase));
    return vec3<i32>(image, spot + first / vec2<i32>(i32(phase_rows), i32(phase_columns)));
  }
  return vec3<i32>(image, spot * vec2<i32>(vec2<u32>(params.window.stride_height, params.window.stride_width)) - pad);
}
fn reach(phase: u32, tap: u32) -> vec2<i32> {
  let width = select(params.window.kernel_width, taps(phase).y, rows_are == TRANSPOSED);
  let row = quotient(tap, width);
  let spot = vec2<i32>(vec2<u32>(row, tap - row * width));
  if (rows_are == TRANSPOSED) {
    return -spot;
  }
  return spot * vec2<i32>(vec2<u32>(params.window.dilation_height, params.window.dilation_width));
}
fn offset(phase: u32, step: u32) -> vec3<i32> {
  if (step >= steps(phase)) {
    return vec3<i32>(-1);
  }
  if (rows_are == MATRIX || pixel_words < 4u) {
    return vec3<i32>(0, 0, i32(step));
  }
  let tap = quotient(step, params.channel_steps);
  return vec3<i32>(reach(phase, tap), i32(step - tap * params.channel_steps));
}
fn pixel(start: vec3<i32>, away: vec2<i32>) -> i32 {
  let at = start.yz + away;
  let inside = all(at >= vec2<i32>(0)) && all(at < vec2<i32>(vec2<u32>(params.maps.x_height, params.maps.x_width)));
  return select(-1, start.x + at.x * i32(params.maps.x_width) + at.y, inside);
}
fn outside() -> u32 {
  return u32(params.epilogue.x_zero_point & 255) * 0x01010101u;
}
fn narrow_word(phase: u32, start: vec3<i32>, word: u32) -> u32 {
  let found = pixel(start, reach(phase, word / pixel_words));
  if (found < 0) {
    return outside();
  }
  let at = u32(found) * pixel_words + word % pixel_words;
  return x[at / 4u][at % 4u];
}
fn load_x(phase: u32, start: vec3<i32>, away: vec3<i32>) -> vec4<u32> {
  if (away.z < 0) {
    return vec4<u32>(0u);
  }
  if (rows_are == MATRIX) {
    return x[start.x + away.z];
  }
  if (pixel_words < 4u) {
    let word = 4u * u32(away.z);
    return vec4<u32>(
      narrow_word(phase, start, word), narrow_word(phase, start, word + 1u),
      narrow_word(phase, start, word + 2u), narrow_word(phase, start, word + 3u));
  }
  let found = pixel(start, away.xy);
  if (found < 0) {
    return vec4<u32>(outside());
  }
  return x[found * i32(params.channel_steps) + away.z];
}
fn weight_row(phase: u32, column: u32) -> u32 {
  return first_weight(phase) + min(column, 4u * params.n_words - 1u) * steps(phase);
}
fn load_weight(phase: u32, row: u32, step: u32) -> vec4<u32> {
  if (step >= steps(phase)) {
    return vec4<u32>(0u);
  }
  return weight[row + step];
}
fn store(phase: u32, row: u32, word: u32, acc: vec4<i32>) {
  if (row >= params.rows || word >= params.n_words) {
    return;
  }
  var at = row;
  if (rows_are == TRANSPOSED) {
    let pixels = params.rows_height * params.rows_width;
    let image = row / pixels;
    let pixel = row - image * pixels;
    let strides = vec2<u32>(phase_rows, phase_columns);
    let spot = first_pixel(phase) + vec2<u32>(pixel / params.rows_width, pixel % params.rows_width) * strides;
    if (spot.x >= params.maps.y_height || spot.y >= params.maps.y_width) {
      return;
    }
    at = (image * params.maps.y_height + spot.x) * params.maps.y_width + spot.y;
  }
  y[at * params.y_stride + word] = requantized(
    acc - params.epilogue.x_zero_point * sums[phase * params.n_words + word], word);
}
var<workgroup> tile: array<array<i32, 1536>, 4>;
fn put(part: u32, row: u32, piece: u32, words: vec4<u32>) {
  let at = row / 16u * 768u + row % 16u * 12u + piece;
  tile[part][at] = i32(words[0]);
  tile[part][at + 192u] = i32(words[1]);
  tile[part][at + 384u] = i32(words[2]);
  tile[part][at + 576u] = i32(words[3]);
}
fn result(subgroup: u32, word: u32) -> vec4<i32> {
  return vec4<i32>(
    tile[subgroup][4u * word], tile[subgroup][4u * word + 1u], tile[subgroup][4u * word + 2u],
    tile[subgroup][4u * word + 3u]);
}
@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32
) {
  let workgroup = flat_workgroup(id, grid);
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  let first_row = workgroup % params.tiles / params.tiles_n * 64u;
  let first_column = workgroup % params.tiles % params.tiles_n * 64u;
  let upper = subgroup / 2u;
  let left = subgroup % 2u;
  let piece = local % 8u;
  let bring = local / 8u;
  let last = params.rows - 1u;
  let row_a = origin(phase, min(first_row + bring, last));
  let row_b = origin(phase, min(first_row + bring + 16u, last));
  let row_c = origin(phase, min(first_row + bring + 32u, last));
  let row_d = origin(phase, min(first_row + bring + 48u, last));
  let column_w = weight_row(phase, first_column + bring);
  let column_x = weight_row(phase, first_column + bring + 16u);
  let column_y = weight_row(phase, first_column + bring + 32u);
  let column_z = weight_row(phase, first_column + bring + 48u);
  var away = offset(phase, piece);
  var next_a = load_x(phase, row_a, away);
  var next_b = load_x(phase, row_b, away);
  var next_c = load_x(phase, row_c, away);
  var next_d = load_x(phase, row_d, away);
  var next_w = load_weight(phase, column_w, piece);
  var next_x = load_weight(phase, column_x, piece);
  var next_y = load_weight(phase, column_y, piece);
  var next_z = load_weight(phase, column_z, piece);
  var acc00 = subgroup_matrix_result<i32, 16, 16>();
  var acc01 = subgroup_matrix_result<i32, 16, 16>();
  var acc10 = subgroup_matrix_result<i32, 16, 16>();
  var acc11 = subgroup_matrix_result<i32, 16, 16>();
  for (var k = 0u; k < steps(phase); k += 8u) {
    workgroupBarrier();
    put(0u, bring, piece, next_a);
    put(0u, bring + 16u, piece, next_b);
    put(1u, bring, piece, next_c);
    put(1u, bring + 16u, piece, next_d);
    put(2u, bring, piece, next_w);
    put(2u, bring + 16u, piece, next_x);
    put(3u, bring, piece, next_y);
    put(3u, bring + 16u, piece, next_z);
    workgroupBarrier();
    away = offset(phase, k + 8u + piece);
    next_a = load_x(phase, row_a, away);
    next_b = load_x(phase, row_b, away);
    next_c = load_x(phase, row_c, away);
    next_d = load_x(phase, row_d, away);
    next_w = load_weight(phase, column_w, k + 8u + piece);
    next_x = load_weight(phase, column_x, k + 8u + piece);
    next_y = load_weight(phase, column_y, k + 8u + piece);
    next_z = load_weight(phase, column_z, k + 8u + piece);
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 0u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 3072u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 0u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 3072u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
    }
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 768u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 3840u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 768u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 3840u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
    }
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 1536u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 4608u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 1536u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 4608u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
    }
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 2304u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 5376u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 2304u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 5376u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
    }
  }
  let row = first_row + upper * 32u + lane / 8u;
  let word = first_column / 4u + left * 8u + lane % 8u;
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc00, false, 32u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc01, false, 32u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 4u) {
    store(phase, row + r, word, result(subgroup, r * 8u + lane));
  }
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc10, false, 32u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc11, false, 32u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 4u) {
    store(phase, row + 16u + r, word, result(subgroup, r * 8u + lane));
  }
}
