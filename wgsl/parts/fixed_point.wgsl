// uses wide
// Integers in place of real numbers, as gemmlowp has them.

struct Multiplier {
  significand: i32,
  exponent: i32,
}

// v / 2^exponent, rounded to nearest, halves away from zero.
fn shifted_down(v: i32, exponent: u32) -> i32 {
  let mask = (1i << exponent) - 1;
  return (v >> exponent) + i32((v & mask) > (mask >> 1u) + i32(v < 0));
}

// v times the number, in two roundings: to the high half of twice the product, halves up, and as it is shifted.
fn scaled(v: i32, by: Multiplier) -> i32 {
  let wide = v << u32(max(by.exponent, 0));
  let p = added(
    product(vec2<u32>(u32(wide), u32(wide >> 31u)), vec2<u32>(u32(by.significand), 0u)), vec2<u32>(0x40000000u, 0u));
  return shifted_down(i32((p.y << 1u) | (p.x >> 31u)), u32(max(-by.exponent, 0)));
}

// --- numbers of 16 bits; those that are not said to have bits before the point have none

fn short(v: i32) -> i32 {
  return clamp(v, -32768, 32767);
}

fn times_short(a: i32, b: i32) -> i32 {
  return (a * b + 16384) >> 15u;
}

// e^a of numbers up to 0 with so many bits before the point.
fn exp_short(a: i32, bits: u32) -> i32 {
  if (a == 0) {
    return 32767;
  }
  let quarter = 1i << (13u - bits);
  let within = (a & (quarter - 1)) - quarter;
  // a series around −1/8
  let x = (within << bits) + 4096;
  let x2 = times_short(x, x);
  let x3 = times_short(x2, x);
  let x4 = times_short(x2, x2);
  let rest = shifted_down(times_short(shifted_down(x4, 2u) + x3, 10923) + x2, 1u);
  var result = short(28918 + times_short(28918, x + rest));
  // times e^(−1/4), e^(−1/2), …, e^(−16)
  var powers = array<i32, 7>(25520, 19875, 12055, 4435, 600, 11, 0);
  for (var i = 0u; i < min(bits + 2u, 7u); i++) {
    if (((within - a) & (quarter << i)) != 0) {
      result = times_short(result, powers[i]);
    }
  }
  return select(result, 0, bits == 6u && a < -16384);
}

// 2 / (1 + v) of v from 0 to 1, with two bits before the point, by Newton's method.
fn quotient_short(v: i32) -> i32 {
  let half = (v + 32768) >> 1u;
  var x = 23130 + times_short(half, -15420);
  for (var i = 0u; i < 3u; i++) {
    x += short(times_short(x, 8192 - times_short(half, x)) << 2u);
  }
  return x;
}

// Of numbers with three bits before the point.
fn sigmoid_short(a: i32) -> i32 {
  if (a == 0) {
    return 16384;
  }
  let positive = short(quotient_short(exp_short(-abs(a), 3u)) << 1u);
  return select(32767 - positive, positive, a > 0);
}

// Of numbers with so many bits before the point.
fn tanh_short(a: i32, bits: u32) -> i32 {
  let positive = short((quotient_short(exp_short(-abs(a), bits + 1u)) - 8192) << 2u);
  return sign(a) * positive;
}
