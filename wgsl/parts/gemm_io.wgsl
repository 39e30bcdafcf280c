// uses window
// uses result
// uses steps_of_x
// What the products of wgsl/gemm*.wgsl share: their parameters, how they read x and weights, and how they write y.
//
// Rows of a product are those of a matrix x, or pixels of y whose taps are gathered from the map x. A transposed
// convolution falls into phases, one for each remainder of a tap divided by the stride: all pixels of y that differ by
// whole strides take the same taps, as a convolution of stride 1 does. A phase has weights, sums and a length of its own.

const MATRIX = 0u;
const CONVOLUTION = 1u;
const TRANSPOSED = 2u;
override rows_are: u32 = MATRIX;
override pixel_words: u32 = 4u; // of x: 1 or 2, or 4 for any whole number of vec4
// of a transposed convolution, whose phases take so many divisions by these that they must be cheap
override phase_rows: u32 = 1u; // the strides
override phase_columns: u32 = 1u;
override tap_rows: u32 = 1u; // the kernel's size
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
  @align(16) written: Written,
  @align(16) read: Read,
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

// Rows and columns of taps of a phase; none where the stride is larger than the kernel.
fn taps(phase: u32) -> vec2<u32> {
  let most = vec2<u32>(tap_rows + phase_rows - 1u, tap_columns + phase_columns - 1u);
  return (most - remainder(phase)) / vec2<u32>(phase_rows, phase_columns);
}

// The first row and column of y in a phase: (remainder − padding) modulo stride.
fn first_pixel(phase: u32) -> vec2<u32> {
  let strides = vec2<u32>(phase_rows, phase_columns);
  return (remainder(phase) + strides - vec2<u32>(params.window.pad_height, params.window.pad_width) % strides) % strides;
}

fn phases() -> u32 {
  return phase_rows * phase_columns;
}

// n / d for n below 2²⁰, in far fewer instructions than dividing integers takes.
fn whole_quotient(n: u32, d: u32) -> u32 {
  return u32((f32(n) + 0.5) / f32(d));
}

// Steps of 16 bytes of K.
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
  // taps of the phases before this one, along each axis
  let whole = vec2<u32>(tap_rows / phase_rows, tap_columns / phase_columns);
  let left_over = vec2<u32>(tap_rows % phase_rows, tap_columns % phase_columns);
  let before = whole * remainder(phase) + min(left_over, remainder(phase));
  return (before.x * tap_columns + taps(phase).x * before.y) * params.channel_steps * 4u * params.n_words;
}

// Where a row begins in x, found once: its first step of 16 bytes; for pixels the image's first pixel, and the row and the
// column that the first tap takes.
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

// How many rows and columns a tap lies from the first one.
fn reach(phase: u32, tap: u32) -> vec2<i32> {
  let width = select(params.window.kernel_width, taps(phase).y, rows_are == TRANSPOSED);
  let row = whole_quotient(tap, width);
  let spot = vec2<i32>(vec2<u32>(row, tap - row * width));
  if (rows_are == TRANSPOSED) {
    return -spot;
  }
  return spot * vec2<i32>(vec2<u32>(params.window.dilation_height, params.window.dilation_width));
}

// A step as seen from a row's origin: the tap's reach, and 16 bytes within its pixel; −1 beyond the end.
fn offset(phase: u32, step: u32) -> vec3<i32> {
  if (step >= steps(phase)) {
    return vec3<i32>(-1);
  }
  if (rows_are == MATRIX || pixel_words < 4u) {
    return vec3<i32>(0, 0, i32(step));
  }
  let tap = whole_quotient(step, params.channel_steps);
  return vec3<i32>(reach(phase, tap), i32(step - tap * params.channel_steps));
}

// A pixel of x; −1 outside of the map.
fn pixel(start: vec3<i32>, away: vec2<i32>) -> i32 {
  let at = start.yz + away;
  let inside = all(at >= vec2<i32>(0)) && all(at < vec2<i32>(vec2<u32>(params.maps.x_height, params.maps.x_width)));
  return select(-1, start.x + at.x * i32(params.maps.x_width) + at.y, inside);
}

fn outside() -> u32 {
  return u32(params.epilogue.x_zero_point & 255) * 0x01010101u;
}

// A word of K of a row, where pixels are narrower than a vec4.
fn narrow_word(phase: u32, start: vec3<i32>, word: u32) -> u32 {
  let found = pixel(start, reach(phase, word / pixel_words));
  if (found < 0) {
    return outside();
  }
  return x_word(u32(found) * pixel_words + word % pixel_words);
}

// 16 bytes of K of a row, zero beyond the end; outside of a map x is its zero point.
fn load_x(phase: u32, start: vec3<i32>, away: vec3<i32>) -> vec4<u32> {
  if (away.z < 0) {
    return vec4<u32>(0u);
  }
  if (rows_are == MATRIX) {
    return x_step(u32(start.x + away.z));
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
  return x_step(u32(found * i32(params.channel_steps) + away.z));
}

// Where a column begins in the weights.
fn weight_row(phase: u32, column: u32) -> u32 {
  return first_weight(phase) + min(column, 4u * params.n_words - 1u) * steps(phase);
}

fn load_weight(phase: u32, row: u32, step: u32) -> vec4<u32> {
  if (step >= steps(phase)) {
    return vec4<u32>(0u);
  }
  return weight[row + step];
}

// Four columns of a row.
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
  finish(at, word, acc, sums[phase * params.n_words + word]);
}
