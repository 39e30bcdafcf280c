// float32 numbers by their bits: infinities and NaN cannot be written as numbers, and a compiler may assume that there are none.

const ONE_BITS = 0x3f800000u;
const INFINITY_BITS = 0x7f800000u;
const NAN_BITS = 0x7fc00000u;
const SIGN_BIT = 0x80000000u;

fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > INFINITY_BITS;
}

const RANK_OF_NAN: i32 = 0x7fffffff;

// An integer that compares as the float does: ±0 are equal, and NaN ranks above all.
fn rank(v: f32) -> i32 {
  let magnitude = bitcast<i32>(v) & 0x7fffffff;
  return select(select(magnitude, -magnitude, bitcast<i32>(v) < 0), RANK_OF_NAN, is_nan(v));
}
