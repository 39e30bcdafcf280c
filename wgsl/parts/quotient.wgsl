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
