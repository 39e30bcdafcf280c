// uses dot4
fn flat_workgroup(id: vec3<u32>, grid: vec3<u32>) -> u32 {
  return id.x + id.y * grid.x;
}
@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  run(flat_workgroup(id, grid), local);
}
const NARROWED: f32 = 0x1p-48f;
fn widened(word: u32) -> vec4<f32> {
  let top = vec4<i32>(bitcast<i32>(word)) * vec4<i32>(0x1000000, 0x10000, 0x100, 1);
  return vec4<f32>(top & vec4<i32>(bitcast<i32>(0xff000000u)));
}
fn widened4(a: u32, b: u32, c: u32, d: u32) -> mat4x4<f32> {
  return mat4x4<f32>(widened(a), widened(b), widened(c), widened(d));
}
fn narrowed(sums: vec4<f32>) -> vec4<i32> {
  return vec4<i32>(sums * NARROWED);
}
fn products16(
  a0: vec4<u32>, a1: vec4<u32>, a2: vec4<u32>, a3: vec4<u32>, w0: vec4<u32>, w1: vec4<u32>, w2: vec4<u32>, w3: vec4<u32>
) -> mat4x4<f32> {
  return transpose(widened4(w0.x, w1.x, w2.x, w3.x)) * widened4(a0.x, a1.x, a2.x, a3.x)
    + transpose(widened4(w0.y, w1.y, w2.y, w3.y)) * widened4(a0.y, a1.y, a2.y, a3.y)
    + transpose(widened4(w0.z, w1.z, w2.z, w3.z)) * widened4(a0.z, a1.z, a2.z, a3.z)
    + transpose(widened4(w0.w, w1.w, w2.w, w3.w)) * widened4(a0.w, a1.w, a2.w, a3.w);
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
var<workgroup> x_tile: array<vec4<u32>, 256>;
var<workgroup> w_tile: array<vec4<u32>, 128>;
fn run(workgroup: u32, local: u32) {
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  let first_row = workgroup % params.tiles / params.tiles_n * 128u;
  let first_column = workgroup % params.tiles % params.tiles_n * 64u;
  let tx = local % 8u;
  let ty = local / 8u;
  let piece = local % 2u;
  let bring = local / 2u;
  let last = params.rows - 1u;
  let row_a = origin(phase, min(first_row + bring, last));
  let row_b = origin(phase, min(first_row + bring + 64u, last));
  let column_w = weight_row(phase, first_column + bring);
  var away = offset(phase, piece);
  var next_a = load_x(phase, row_a, away);
  var next_b = load_x(phase, row_b, away);
  var next_w = load_weight(phase, column_w, piece);
  let x_spot = piece * 128u + bring;
  let w_spot = piece * 64u + bring % 4u * 16u + bring / 4u;
  var p0 = vec4<i32>();
  var p1 = vec4<i32>();
  var p2 = vec4<i32>();
  var p3 = vec4<i32>();
  var p4 = vec4<i32>();
  var p5 = vec4<i32>();
  var p6 = vec4<i32>();
  var p7 = vec4<i32>();
  var q0 = vec4<i32>();
  var q1 = vec4<i32>();
  var q2 = vec4<i32>();
  var q3 = vec4<i32>();
  var q4 = vec4<i32>();
  var q5 = vec4<i32>();
  var q6 = vec4<i32>();
  var q7 = vec4<i32>();
  for (var k = 0u; k < steps(phase); k += 2u) {
    workgroupBarrier();
    x_tile[x_spot] = next_a;
    x_tile[x_spot + 64u] = next_b;
    w_tile[w_spot] = next_w;
    workgroupBarrier();
    away = offset(phase, k + 2u + piece);
    next_a = load_x(phase, row_a, away);
    next_b = load_x(phase, row_b, away);
    next_w = load_weight(phase, column_w, k + 2u + piece);
    {
      let a0 = x_tile[ty + 0u];
      let a1 = x_tile[ty + 16u];
      let a2 = x_tile[ty + 32u];
      let a3 = x_tile[ty + 48u];
      let a4 = x_tile[ty + 64u];
      let a5 = x_tile[ty + 80u];
      let a6 = x_tile[ty + 96u];
      let a7 = x_tile[ty + 112u];
      var w0 = w_tile[tx + 0u];
      var w1 = w_tile[tx + 16u];
      var w2 = w_tile[tx + 32u];
      var w3 = w_tile[tx + 48u];
      p0 = four16(p0, a0, w0, w1, w2, w3);
      p1 = four16(p1, a1, w0, w1, w2, w3);
      p2 = four16(p2, a2, w0, w1, w2, w3);
      p3 = four16(p3, a3, w0, w1, w2, w3);
      p4 = four16(p4, a4, w0, w1, w2, w3);
      p5 = four16(p5, a5, w0, w1, w2, w3);
      p6 = four16(p6, a6, w0, w1, w2, w3);
      p7 = four16(p7, a7, w0, w1, w2, w3);
      w0 = w_tile[tx + 8u];
      w1 = w_tile[tx + 24u];
      w2 = w_tile[tx + 40u];
      w3 = w_tile[tx + 56u];
      q0 = four16(q0, a0, w0, w1, w2, w3);
      q1 = four16(q1, a1, w0, w1, w2, w3);
      q2 = four16(q2, a2, w0, w1, w2, w3);
      q3 = four16(q3, a3, w0, w1, w2, w3);
      q4 = four16(q4, a4, w0, w1, w2, w3);
      q5 = four16(q5, a5, w0, w1, w2, w3);
      q6 = four16(q6, a6, w0, w1, w2, w3);
      q7 = four16(q7, a7, w0, w1, w2, w3);
    }
    {
      let a0 = x_tile[ty + 128u];
      let a1 = x_tile[ty + 144u];
      let a2 = x_tile[ty + 160u];
      let a3 = x_tile[ty + 176u];
      let a4 = x_tile[ty + 192u];
      let a5 = x_tile[ty + 208u];
      let a6 = x_tile[ty + 224u];
      let a7 = x_tile[ty + 240u];
      var w0 = w_tile[tx + 64u];
      var w1 = w_tile[tx + 80u];
      var w2 = w_tile[tx + 96u];
      var w3 = w_tile[tx + 112u];
      p0 = four16(p0, a0, w0, w1, w2, w3);
      p1 = four16(p1, a1, w0, w1, w2, w3);
      p2 = four16(p2, a2, w0, w1, w2, w3);
      p3 = four16(p3, a3, w0, w1, w2, w3);
      p4 = four16(p4, a4, w0, w1, w2, w3);
      p5 = four16(p5, a5, w0, w1, w2, w3);
      p6 = four16(p6, a6, w0, w1, w2, w3);
      p7 = four16(p7, a7, w0, w1, w2, w3);
      w0 = w_tile[tx + 72u];
      w1 = w_tile[tx + 88u];
      w2 = w_tile[tx + 104u];
      w3 = w_tile[tx + 120u];
      q0 = four16(q0, a0, w0, w1, w2, w3);
      q1 = four16(q1, a1, w0, w1, w2, w3);
      q2 = four16(q2, a2, w0, w1, w2, w3);
      q3 = four16(q3, a3, w0, w1, w2, w3);
      q4 = four16(q4, a4, w0, w1, w2, w3);
      q5 = four16(q5, a5, w0, w1, w2, w3);
      q6 = four16(q6, a6, w0, w1, w2, w3);
      q7 = four16(q7, a7, w0, w1, w2, w3);
    }
  }
  let row = first_row + ty;
  let word = first_column / 4u + tx;
  store(phase, row, word, p0);
  store(phase, row + 16u, word, p1);
  store(phase, row + 32u, word, p2);
  store(phase, row + 48u, word, p3);
  store(phase, row + 64u, word, p4);
  store(phase, row + 80u, word, p5);
  store(phase, row + 96u, word, p6);
  store(phase, row + 112u, word, p7);
  store(phase, row, word + 8u, q0);
  store(phase, row + 16u, word + 8u, q1);
  store(phase, row + 32u, word + 8u, q2);
  store(phase, row + 48u, word + 8u, q3);
  store(phase, row + 64u, word + 8u, q4);
  store(phase, row + 80u, word + 8u, q5);
  store(phase, row + 96u, word + 8u, q6);
  store(phase, row + 112u, word + 8u, q7);
}
