// uses workgroups
// uses tree
// uses quotient
// The scale and the zero point with which integers can stand for 0 and all elements of a row; a workgroup a row.

override wide_scale: bool = false;  // as float64
override wide_zero_point: bool = false;  // as int64
override nearest: bool = false;  // from the end of the range where rounding errs less, not from the lower end

struct Params {
  rows: u32,
  length: u32,
  qmin: i32,
  qmax: i32,
  steps: f32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> scales: array<u32>;
@group(0) @binding(2) var<storage, read_write> zero_points: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

const lanes = 64u;

// The lowest and the highest rank.
alias Partial = vec2<i32>;

fn combined(a: Partial, b: Partial) -> Partial {
  return vec2<i32>(min(a.x, b.x), max(a.y, b.y));
}

fn of_rank(r: i32) -> u32 {
  return select(u32(r), u32(-r) | SIGN_BIT, r < 0);
}

fn scale(low: f32, high: f32) -> u32 {
  let chosen = quotient(bitcast<u32>(high - low), bitcast<u32>(params.steps));
  return select(chosen, bitcast<u32>(params.eps), bitcast<f32>(chosen) < params.eps);
}

// A float32 as a float64, low word first; subnormal numbers are 0.
fn widened64(bits: u32) -> vec2<u32> {
  let exponent = (bits >> 23u) & 255u;
  let wide_exponent = select(select(exponent + 896u, 0x7ffu, exponent == 255u), 0u, exponent == 0u);
  let mantissa = select(bits & 0x7fffffu, 0u, exponent == 0u);
  return vec2<u32>(mantissa << 29u, (bits & SIGN_BIT) | (wide_exponent << 20u) | (mantissa >> 3u));
}

fn put_scale(row: u32, bits: u32) {
  if (wide_scale) {
    let wide = widened64(bits);
    scales[2u * row] = wide.x;
    scales[2u * row + 1u] = wide.y;
  } else {
    scales[row] = bits;
  }
}

fn put_zero_point(row: u32, number: i32) {
  if (wide_zero_point) {
    zero_points[2u * row] = u32(number);
    zero_points[2u * row + 1u] = u32(number >> 31u);
  } else {
    zero_points[row] = u32(number);
  }
}

// A bound of the row in steps of its scale.
fn in_steps(bound: f32, bits: u32) -> f32 {
  return bitcast<f32>(quotient(bitcast<u32>(bound), bits));
}

fn run(row: u32, local: u32) {
  if (row >= params.rows) {
    return;
  }
  // 0 is among the elements
  var found = vec2<i32>();
  for (var i = local; i < params.length; i += 64u) {
    let r = rank(x[row * params.length + i]);
    found = combined(found, vec2<i32>(r));
  }
  found = reduced(found, local);
  if (local > 0u) {
    return;
  }
  let low = bitcast<f32>(of_rank(found.x));
  let high = bitcast<f32>(select(of_rank(found.y), NAN_BITS, found.y == RANK_OF_NAN));
  let bits = scale(low, high);
  let first = in_steps(low, bits);
  var place = f32(params.qmin) - round(first);
  if (nearest) {
    let last = in_steps(high, bits);
    let by_low = (f32(params.qmin) + first) + (f32(params.qmax) + last) > 0.0;
    place = round(select(f32(params.qmax) - last, f32(params.qmin) - first, by_low));
  }
  put_scale(row, bits);
  put_zero_point(row, clamp(i32(place), params.qmin, params.qmax));
}
