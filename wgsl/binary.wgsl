// uses elements
// uses walk_two
// uses remainder
// y = f(a, b) element by element, both broadcast.

const ADD = 0u;
const MUL = 1u;
const DIV = 2u;
const MAXIMUM = 3u;
const MINIMUM = 4u;
const POW = 5u;
const DIV_TRUNC = 6u;
const DIV_FLOOR = 7u;
const FMOD = 8u;
const REMAINDER = 9u;
const ATAN2 = 10u;

const QUARTER_PI = 0.78539816;

override function: u32 = ADD;
override integer: bool = false;

struct Params {
  count: u32,
  rank: u32,
  alpha: f32,
  integer_alpha: i32,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn is_infinite(v: f32) -> bool {
  return (bitcast<u32>(v) & ~SIGN_BIT) == INFINITY_BITS;
}

// The one of two that is larger (or smaller); NaN where either is.
fn extremum(v: f32, w: f32, first: bool) -> f32 {
  if (is_nan(v)) {
    return v;
  }
  return select(w, v, first && !is_nan(w));
}

// v to the power of e: whole exponents by squaring, which is exact for small ones, others by logarithms. Gives bits, since
// infinities and NaN cannot be written.
fn power(v: f32, e: f32) -> u32 {
  let bits = bitcast<u32>(v);
  let m = abs(v);
  if (e == 0.0 || v == 1.0) {
    return ONE_BITS;
  }
  if (is_nan(v) || is_nan(e)) {
    return NAN_BITS;
  }
  let whole = floor(e) == e;
  let odd = whole && abs(e) < 16777216.0 && (i32(e) & 1) == 1;
  let sign = select(0u, bits & SIGN_BIT, odd);
  let infinite = is_infinite(v);
  if (v == 0.0) {
    return select(INFINITY_BITS, 0u, e > 0.0) | sign;
  }
  if (v < 0.0 && !whole && !infinite) {
    return NAN_BITS;
  }
  var r = 1.0;
  if (whole && abs(e) <= 64.0) {
    var factor = m;
    for (var n = u32(abs(e)); n > 0u; n >>= 1u) {
      if ((n & 1u) == 1u) {
        r *= factor;
      }
      factor *= factor;
    }
    if (e < 0.0) {
      r = 1.0 / r;
    }
  } else if (e == 0.5 && !infinite) {
    r = sqrt(m);
  } else if (e == -0.5 && !infinite) {
    r = inverseSqrt(m);
  } else if (m != 1.0) {
    r = exp2(e * log2(m));
  }
  return bitcast<u32>(r) | sign;
}

// v / 16 for v ≥ 0, 0 where that is subnormal; by its bits, since a compiler takes a common factor out of a quotient.
fn sixteenth(v: f32) -> f32 {
  let bits = bitcast<u32>(v);
  return bitcast<f32>(select(0u, bits - (4u << 23u), bits >= 5u << 23u));
}

// The angle of the point (w, v), as bits: the arc tangent of a quotient in 0…1, by Cephes' polynomial, is turned to the
// octant of the point. Signs are taken as bits, since those of zeros count.
fn angle(v: f32, w: f32) -> u32 {
  if (is_nan(v) || is_nan(w)) {
    return NAN_BITS;
  }
  let large = max(abs(v), abs(w));
  let small = min(abs(v), abs(w));
  var r = 0.0;
  if (is_infinite(small)) {
    r = QUARTER_PI;
  } else if (small != 0.0 && !is_infinite(large)) {
    // so that the sum does not overflow, nor the difference become subnormal
    let huge = large > 0x1p120;
    let scale = select(1.0, 0x1p64, large < 0x1p-60);
    let p = select(small * scale, sixteenth(small), huge);
    let q = select(large * scale, sixteenth(large), huge);
    let far = p > 0.41421356 * q;
    let t = select(p, p - q, far) / select(q, p + q, far);
    let s = t * t;
    r = t + t * s * (((8.0537445e-2 * s - 1.3877685e-1) * s + 1.9977711e-1) * s - 3.3332949e-1);
    r += select(0.0, QUARTER_PI, far);
  }
  r = select(r, 2.0 * QUARTER_PI - r, abs(v) > abs(w));
  r = select(r, 4.0 * QUARTER_PI - r, (bitcast<u32>(w) & SIGN_BIT) != 0u);
  return bitcast<u32>(r) | (bitcast<u32>(v) & SIGN_BIT);
}

fn apply(v: f32, w: f32) -> u32 {
  switch function {
    case ADD: {
      return bitcast<u32>(v + params.alpha * w);
    }
    case MUL: {
      return bitcast<u32>(v * w);
    }
    case DIV: {
      return bitcast<u32>(v / w);
    }
    case MAXIMUM: {
      return bitcast<u32>(extremum(v, w, v > w));
    }
    case MINIMUM: {
      return bitcast<u32>(extremum(v, w, v < w));
    }
    case POW: {
      return power(v, w);
    }
    case DIV_TRUNC: {
      return quotient_trunc(bitcast<u32>(v), bitcast<u32>(w));
    }
    case DIV_FLOOR: {
      return quotient_floor(bitcast<u32>(v), bitcast<u32>(w));
    }
    case FMOD: {
      return modulo(bitcast<u32>(v), bitcast<u32>(w));
    }
    case REMAINDER: {
      return remainder(bitcast<u32>(v), bitcast<u32>(w));
    }
    case ATAN2: {
      return angle(v, w);
    }
    default: {
      return 0u;
    }
  }
}

fn apply_integer(v: i32, w: i32) -> u32 {
  switch function {
    case ADD: {
      return u32(v + params.integer_alpha * w);
    }
    case MUL: {
      return u32(v * w);
    }
    case DIV: {
      return bitcast<u32>(f32(v) / f32(w));
    }
    case MAXIMUM: {
      return u32(max(v, w));
    }
    case MINIMUM: {
      return u32(min(v, w));
    }
    case DIV_TRUNC: {
      return u32(v / w);
    }
    case DIV_FLOOR: {
      return u32(v / w - select(0, 1, v % w != 0 && (v < 0) != (w < 0)));
    }
    case FMOD: {
      return u32(select(v % w, 0, w == 0));
    }
    case REMAINDER: {
      let rest = select(v % w, 0, w == 0);
      return u32(rest + select(0, w, rest != 0 && (rest < 0) != (w < 0)));
    }
    default: {
      return 0u;
    }
  }
}

fn y_bytes() -> u32 {
  return 4u;
}

fn element(i: u32) -> vec2<u32> {
  let at = walk(i, 0u, params.rank);
  let p = a[at.x];
  let q = b[at.y];
  if (integer) {
    return vec2<u32>(apply_integer(bitcast<i32>(p), bitcast<i32>(q)), 0u);
  }
  return vec2<u32>(apply(bitcast<f32>(p), bitcast<f32>(q)), 0u);
}
