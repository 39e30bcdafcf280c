// uses elements
// uses floats
// y = f(x), element by element. Built-in functions that are inexact near 0 or 1, or that overflow on the way, are made of
// others here. NaN stays NaN, but the sign of NaN is 0.

const RELU = 0u;
const CLAMP = 1u;
const LEAKY_RELU = 2u;
const ELU = 3u;
const HARDSHRINK = 4u;
const HARDSIGMOID = 5u;
const HARDSWISH = 6u;
const SIGMOID = 7u;
const SILU = 8u;
const TANH = 9u;
const GELU = 10u;
const GELU_TANH = 11u;
const ERF = 12u;
const ABS = 13u;
const NEG = 14u;
const EXP = 15u;
const EXPM1 = 16u;
const LOG = 17u;
const LOG2 = 18u;
const LOG10 = 19u;
const LOG1P = 20u;
const SQRT = 21u;
const RSQRT = 22u;
const RECIPROCAL = 23u;
const SIN = 24u;
const COS = 25u;
const ROUND = 26u;
const FLOOR = 27u;
const CEIL = 28u;
const TRUNC = 29u;
const SIGN = 30u;
const SINH = 31u;

override function: u32 = RELU;
override integer: bool = false;

struct Params {
  count: u32,
  low: f32,
  high: f32,
  a: f32,
  b: f32,
  c: f32,
  integer_low: i32,
  integer_high: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn sigmoid(v: f32) -> f32 {
  let e = exp(-abs(v));
  return select(e, 1.0, v >= 0.0) / (1.0 + e);
}

// Cephes' polynomial near 0, where 1 − 2/(e²ᵛ + 1) cancels.
fn precise_tanh(v: f32) -> f32 {
  let m = abs(v);
  if (m < 0.625) {
    let s = v * v;
    let p = (((-5.70498873e-3 * s + 2.06390888e-2) * s - 5.37397156e-2) * s + 1.33314422e-1) * s - 3.33332819e-1;
    return v + v * s * p;
  }
  return sign(v) * (1.0 - 2.0 / (exp(2.0 * min(m, 10.0)) + 1.0));
}

fn precise_expm1(v: f32) -> f32 {
  if (abs(v) < 0.5) {
    let t = precise_tanh(0.5 * v);
    return 2.0 * t / (1.0 - t);
  }
  return exp(v) - 1.0;
}

// By e^(|v|/2), whose square overflows only where sinh does.
fn precise_sinh(v: f32) -> f32 {
  let m = abs(v);
  if (m < 1.0) {
    let t = precise_expm1(m);
    return sign(v) * 0.5 * (t + t / (t + 1.0));
  }
  let e = exp(0.5 * m);
  return sign(v) * (0.5 * e * e - 0.5 / e / e);
}

// ln(1 + v) for −0.4 < v < 0.67: twice the series of artanh.
fn log1p_near_zero(v: f32) -> f32 {
  let s = v / (2.0 + v);
  let q = s * s;
  return 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q / 11.0)))));
}

fn log_bits(v: f32, factor: f32) -> u32 {
  if (v <= 0.0) {
    return select(NAN_BITS, INFINITY_BITS | SIGN_BIT, v == 0.0);
  }
  if (v > 0.6 && v < 1.66) {
    return bitcast<u32>(log1p_near_zero(v - 1.0) * factor);
  }
  return bitcast<u32>(log(v) * factor);
}

// erfc(v) for v ≥ 0: e^(−v²) times a polynomial in 1/(1 + 0.4v), fitted for a relative error of 1.3e-7.
fn erfc(v: f32) -> f32 {
  let t = 1.0 / (1.0 + 0.4 * v);
  var p = 0.05025978;
  p = p * t - 0.18289244;
  p = p * t + 0.16907141;
  p = p * t - 0.0055962523;
  p = p * t + 0.14142644;
  p = p * t + 0.16854316;
  p = p * t + 0.20784256;
  p = p * t + 0.22566961;
  p = p * t + 0.22567587;
  return exp(-v * v) * t * p;
}

fn erf(v: f32) -> f32 {
  if (abs(v) < 0.5) {
    let s = v * v;
    let p = 1.0 + s * (-1.0 / 3.0 + s * (0.1 + s * (-1.0 / 42.0 + s * (1.0 / 216.0 - s / 1320.0))));
    return 1.1283792 * v * p;
  }
  return sign(v) * (1.0 - erfc(abs(v)));
}

fn gelu(v: f32) -> f32 {
  let tail = 0.5 * erfc(abs(v) * 0.70710678);
  return v * select(tail, 1.0 - tail, v >= 0.0);
}

// The sine of v + quarters · π/2. π/2 in three parts: the product of the first is exact for |v| up to 50,000.
fn sine(v: f32, quarters: i32) -> f32 {
  let n = round(v * 0.63661977);
  let r = ((v - n * 1.5703125) - n * 4.8375130e-4) - n * 7.5497900e-8;
  let s = r * r;
  let sin_r = r + r * s * ((-1.9515296e-4 * s + 8.3321609e-3) * s - 1.6666655e-1);
  let cos_r = 1.0 - 0.5 * s + s * s * ((2.4433157e-5 * s - 1.3887316e-3) * s + 4.1666646e-2);
  let quadrant = i32(n) + quarters;
  let m = select(sin_r, cos_r, (quadrant & 1) == 1);
  return select(m, -m, (quadrant & 2) == 2);
}

fn apply(bits: u32) -> u32 {
  let v = bitcast<f32>(bits);
  var r = v;
  switch function {
    case RELU: {
      r = select(0.0, v, v > 0.0);
    }
    case CLAMP: {
      if (r < params.low) {
        r = params.low;
      }
      if (r > params.high) {
        r = params.high;
      }
    }
    case LEAKY_RELU: {
      r = select(v * params.a, v, v > 0.0);
    }
    case ELU: {
      r = v * params.b;
      if (v < 0.0) {
        r = precise_expm1(v * params.c) * params.a;
      }
    }
    case HARDSHRINK: {
      r = select(v, 0.0, v >= -params.a && v <= params.a);
    }
    case HARDSIGMOID: {
      r = clamp(v + 3.0, 0.0, 6.0) / 6.0;
    }
    case HARDSWISH: {
      r = v * clamp(v + 3.0, 0.0, 6.0) / 6.0;
    }
    case SIGMOID: {
      r = sigmoid(v);
    }
    case SILU: {
      r = v * sigmoid(v);
    }
    case TANH: {
      r = precise_tanh(v);
    }
    case GELU: {
      r = gelu(v);
    }
    case GELU_TANH: {
      // 1 + tanh(u) is 2·sigmoid(2u)
      r = v * sigmoid(1.5957691 * (v + 0.044715 * v * v * v));
    }
    case ERF: {
      r = erf(v);
    }
    case ABS: {
      return bits & ~SIGN_BIT;
    }
    case NEG: {
      return bits ^ SIGN_BIT;
    }
    case EXP: {
      r = exp(v);
    }
    case EXPM1: {
      r = precise_expm1(v);
    }
    case LOG: {
      return log_bits(v, 1.0);
    }
    case LOG2: {
      return log_bits(v, 1.4426950);
    }
    case LOG10: {
      return log_bits(v, 0.43429448);
    }
    case LOG1P: {
      if (v <= -0.4 || v >= 0.66) {
        return log_bits(1.0 + v, 1.0);
      }
      r = log1p_near_zero(v);
    }
    case SQRT: {
      if (v < 0.0) {
        return NAN_BITS;
      }
      if (v != 0.0 && bits != INFINITY_BITS) {
        r = sqrt(v);
      }
    }
    case RSQRT: {
      if (v < 0.0) {
        return NAN_BITS;
      }
      if (v == 0.0) {
        return bits | INFINITY_BITS;
      }
      r = inverseSqrt(v);
    }
    case RECIPROCAL: {
      r = 1.0 / v;
    }
    case SIN: {
      r = sine(v, 0);
    }
    case COS: {
      r = sine(v, 1);
    }
    case SINH: {
      r = precise_sinh(v);
    }
    case ROUND: {
      r = round(v);
    }
    case FLOOR: {
      r = floor(v);
    }
    case CEIL: {
      r = ceil(v);
    }
    case TRUNC: {
      r = trunc(v);
    }
    case SIGN: {
      r = sign(v);
    }
    default: {
    }
  }
  return bitcast<u32>(r);
}

fn apply_integer(v: i32) -> i32 {
  switch function {
    case ABS: {
      return abs(v);
    }
    case NEG: {
      return -v;
    }
    case SIGN: {
      return sign(v);
    }
    default: {
      return min(max(v, params.integer_low), params.integer_high);
    }
  }
}

fn y_bytes() -> u32 {
  return 4u;
}

fn element(i: u32) -> vec2<u32> {
  let bits = x[i];
  if (integer) {
    return vec2<u32>(bitcast<u32>(apply_integer(bitcast<i32>(bits))), 0u);
  }
  if (is_nan(bitcast<f32>(bits))) {
    return vec2<u32>(select(bits, 0u, function == SIGN), 0u);
  }
  return vec2<u32>(apply(bits), 0u);
}
