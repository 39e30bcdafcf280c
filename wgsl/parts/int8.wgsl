// Rounding floats to int8, and packing four of them into a word.

fn pack(q: vec4<i32>) -> u32 {
  let b = vec4<u32>(q & vec4<i32>(255)) * vec4<u32>(1u, 0x100u, 0x10000u, 0x1000000u);
  return b.x | b.y | b.z | b.w;
}

// Rounded half to even, with the zero point, within bounds: clamp(round(v) + zero_point, low, high). Bounds are whole
// numbers, so the clamp can come first; then adding 1.5 · 2²³ rounds, and leaves the result in the low bits. Converting
// would take longer, and must not come before the clamp: f32 to i32 saturates, so a zero point added after it could wrap.
fn rounded(v: vec4<f32>, zero_point: i32, low: f32, high: f32) -> vec4<i32> {
  let bounded = clamp(v, vec4<f32>(low - f32(zero_point)), vec4<f32>(high - f32(zero_point)));
  return bitcast<vec4<i32>>(bounded + 0x1.8p23f) + (zero_point - 0x4b400000);
}
