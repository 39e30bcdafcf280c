// uses quotient
// Remainders of float32 that are right to the bit, and quotients that are rounded to whole numbers.

// The other way round; what is below the subnormal numbers is cut off.
fn assembled(p: Parts) -> u32 {
  return (u32(max(p.exponent, 1) - 1) << 23u) + (p.mantissa >> u32(max(1 - p.exponent, 0)));
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
