// uses workgroups
// uses tree
// uses quotient
// The scale or the zero point with which integers can stand for 0 and all elements; one workgroup.

override zero_point: bool = false;  // write that in place of the scale
override wide: bool = true;  // as float64 or int64

struct Params {
  count: u32,
  qmin: i32,
  qmax: i32,
  steps: f32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

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

fn run(_workgroup: u32, local: u32) {
  // 0 is among the elements
  var found = vec2<i32>();
  for (var i = local; i < params.count; i += 64u) {
    let r = rank(x[i]);
    found = combined(found, vec2<i32>(r));
  }
  found = reduced(found, local);
  if (local > 0u) {
    return;
  }
  let low = bitcast<f32>(of_rank(found.x));
  let high = select(of_rank(found.y), NAN_BITS, found.y == RANK_OF_NAN);
  let bits = scale(low, bitcast<f32>(high));
  var result = widened64(bits);
  if (zero_point) {
    let first = f32(params.qmin) - round(bitcast<f32>(quotient(bitcast<u32>(low), bits)));
    let at = clamp(i32(first), params.qmin, params.qmax);
    result = vec2<u32>(u32(at), u32(at >> 31u));
  } else if (!wide) {
    result.x = bits;
  }
  y[0] = result.x;
  if (wide) {
    y[1] = result.y;
  }
}
