// uses widened
// For browsers without packed dot products, and for CPUs that emulate a GPU: those compute such products, and shifts,
// one lane after another, but multiply floats four lanes at a time. Results are exact.

fn dot4(a: u32, b: u32) -> i32 {
  return i32(dot(widened(a), widened(b)) * NARROWED);
}

fn sum16(a: mat4x4<f32>, b: vec4<u32>) -> f32 {
  return dot(a[0], widened(b.x)) + dot(a[1], widened(b.y)) + dot(a[2], widened(b.z)) + dot(a[3], widened(b.w));
}

fn dot16(acc: i32, a: vec4<u32>, b: vec4<u32>) -> i32 {
  return acc + i32(sum16(widened4(a.x, a.y, a.z, a.w), b) * NARROWED);
}

fn four16(acc: vec4<i32>, a: vec4<u32>, b0: vec4<u32>, b1: vec4<u32>, b2: vec4<u32>, b3: vec4<u32>) -> vec4<i32> {
  let w = widened4(a.x, a.y, a.z, a.w);
  return acc + vec4<i32>(vec4<f32>(sum16(w, b0), sum16(w, b1), sum16(w, b2), sum16(w, b3)) * NARROWED);
}

// Adding 1.5 · 2²³ leaves a small integer in a float's low bits, for less than the conversion costs.
fn unpack(word: u32) -> vec4<i32> {
  return bitcast<vec4<i32>>(widened(word) * 0x1p-24f + 0x1.8p23f) - 0x4b400000;
}
