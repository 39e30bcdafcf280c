// uses floats
// Quotients and remainders of float32 that are right to the bit. A GPU's division may be off by 2.5 units in the last
// place, which rounding to whole numbers would show; its whole numbers are exact, so mantissas are divided here, eight
// bits of the result at a time. Functions take and give bits, since infinities and NaN cannot be written.

// mantissa · 2^(exponent − 150), with 2²³ ≤ mantissa < 2²⁴.
struct Parts {
  mantissa: u32,
  exponent: i32,
}

fn parts(magnitude: u32) -> Parts {
  let exponent = i32(magnitude >> 23u);
  if (exponent > 0) {
    return Parts((magnitude & 0x7fffffu) | 0x800000u, exponent);
  }
  let shift = countLeadingZeros(magnitude) - 8u;
  return Parts(magnitude << shift, 1 - i32(shift));
}

// The other way round; what is below the subnormal numbers is cut off.
fn assembled(p: Parts) -> u32 {
  return (u32(max(p.exponent, 1) - 1) << 23u) + (p.mantissa >> u32(max(1 - p.exponent, 0)));
}

// v / w as IEEE 754 has it: the nearest float32, ties to even.
fn quotient(v: u32, w: u32) -> u32 {
  let sign = (v ^ w) & SIGN_BIT;
  let m = v & ~SIGN_BIT;
  let n = w & ~SIGN_BIT;
  if (m > INFINITY_BITS || n > INFINITY_BITS || (m == n && (m == 0u || m == INFINITY_BITS))) {
    return NAN_BITS;
  }
  if (m == INFINITY_BITS || n == 0u) {
    return INFINITY_BITS | sign;
  }
  if (m == 0u || n == INFINITY_BITS) {
    return sign;
  }
  let a = parts(m);
  let b = parts(n);
  // 26 or 27 bits, the last of them set where something remains
  var q = a.mantissa / b.mantissa;
  var rest = a.mantissa % b.mantissa;
  for (var i = 0u; i < 4u; i++) {
    let bits = select(8u, 2u, i == 3u);
    let shifted = rest << bits;
    q = (q << bits) | (shifted / b.mantissa);
    rest = shifted % b.mantissa;
  }
  q |= u32(rest != 0u);
  let width = 32u - countLeadingZeros(q);
  let exponent = a.exponent - b.exponent + i32(width) + 100;
  if (exponent > 254) {
    return INFINITY_BITS | sign;
  }
  // subnormal results lose more bits
  let dropped = min(width - 24u + u32(max(1 - exponent, 0)), 30u);
  let kept = q >> dropped;
  let lost = q & ((1u << dropped) - 1u);
  let half = 1u << (dropped - 1u);
  let up = u32(lost > half || (lost == half && (kept & 1u) == 1u));
  return ((u32(max(exponent, 1) - 1) << 23u) + kept + up) | sign;
}

// C's fmod: v − trunc(v / w) · w, exact, with the sign of v.
fn modulo(v: u32, w: u32) -> u32 {
  let sign = v & SIGN_BIT;
  let m = v & ~SIGN_BIT;
  let n = w & ~SIGN_BIT;
  if (m >= INFINITY_BITS || n > INFINITY_BITS || n == 0u) {
    return NAN_BITS;
  }
  if (m < n) {
    return v;
  }
  let a = parts(m);
  let b = parts(n);
  var rest = a.mantissa % b.mantissa;
  var places = u32(a.exponent - b.exponent);
  while (places > 0u && rest != 0u) {
    let bits = min(places, 8u);
    rest = (rest << bits) % b.mantissa;
    places -= bits;
  }
  if (rest == 0u) {
    return sign;
  }
  let shift = countLeadingZeros(rest) - 8u;
  return assembled(Parts(rest << shift, b.exponent - i32(shift))) | sign;
}

// The quotient rounded to zero, as torch does: of the nearest float32.
fn quotient_trunc(v: u32, w: u32) -> u32 {
  let q = quotient(v, w);
  let exponent = (q & ~SIGN_BIT) >> 23u;
  if (exponent >= 150u) {
    return q;
  }
  return select(q & ~(0x7fffffu >> (max(exponent, 127u) - 127u)), q & SIGN_BIT, exponent < 127u);
}

// v · 2⁶⁴, which is exact, subnormal or not.
fn raised(v: u32) -> u32 {
  let p = parts(v & ~SIGN_BIT);
  return select((u32(p.exponent + 63) << 23u) + p.mantissa, 0u, (v & ~SIGN_BIT) == 0u) | (v & SIGN_BIT);
}

// The quotient rounded down, by torch's steps: those of Python's divmod. Their last bits show where it is far from 1.
fn quotient_floor(numerator: u32, denominator: u32) -> u32 {
  var v = numerator;
  var w = denominator;
  if (max(v & ~SIGN_BIT, w & ~SIGN_BIT) < 64u << 23u) {
    // a GPU may take subnormal numbers for 0
    v = raised(v);
    w = raised(w);
  }
  let rest = modulo(v, w);
  if ((w & ~SIGN_BIT) == 0u || (rest & ~SIGN_BIT) > INFINITY_BITS) {
    return select(NAN_BITS, quotient(v, w), (w & ~SIGN_BIT) == 0u);
  }
  let whole = quotient(bitcast<u32>(bitcast<f32>(v) - bitcast<f32>(rest)), w);
  if ((whole & ~SIGN_BIT) == INFINITY_BITS) {
    return whole;
  }
  let below = (rest & ~SIGN_BIT) != 0u && ((rest ^ w) & SIGN_BIT) != 0u;
  let q = bitcast<f32>(whole) - select(0.0, 1.0, below);
  if (q == 0.0) {
    return (v ^ w) & SIGN_BIT;
  }
  return bitcast<u32>(floor(q) + select(0.0, 1.0, q - floor(q) > 0.5));
}

// v − floor(v / w) · w, with the sign of w.
fn remainder(v: u32, w: u32) -> u32 {
  let rest = modulo(v, w);
  let magnitude = rest & ~SIGN_BIT;
  if (magnitude == 0u || magnitude > INFINITY_BITS || ((rest ^ w) & SIGN_BIT) == 0u) {
    return rest;
  }
  if ((w & ~SIGN_BIT) >= 64u << 23u) {
    return bitcast<u32>(bitcast<f32>(rest) + bitcast<f32>(w));
  }
  let sum = bitcast<u32>(bitcast<f32>(raised(rest)) + bitcast<f32>(raised(w)));
  let p = parts(sum & ~SIGN_BIT);
  return assembled(Parts(p.mantissa, p.exponent - 64)) | (sum & SIGN_BIT);
}
