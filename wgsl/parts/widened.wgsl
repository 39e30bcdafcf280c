// Products of int8 as float32, for CPUs that emulate a GPU: those multiply integers one lane after another, floats four
// lanes at a time.

// Four int8 as float32, times 2²⁴: what SwiftShader does fast, as it shifts one lane after another. Products of two such
// numbers are whole multiples of 2⁴⁸, and sums of up to 1,024 of them exact; `NARROWED` takes that factor away.
const NARROWED: f32 = 0x1p-48f;

fn widened(word: u32) -> vec4<f32> {
  let top = vec4<i32>(bitcast<i32>(word)) * vec4<i32>(0x1000000, 0x10000, 0x100, 1);
  return vec4<f32>(top & vec4<i32>(bitcast<i32>(0xff000000u)));
}

fn widened4(a: u32, b: u32, c: u32, d: u32) -> mat4x4<f32> {
  return mat4x4<f32>(widened(a), widened(b), widened(c), widened(d));
}

// Sums of products as the integers that they are.
fn narrowed(sums: vec4<f32>) -> vec4<i32> {
  return vec4<i32>(sums * NARROWED);
}

// Sums over 16 int8 of K: a column for each of the four rows of x, a row for each of the four of the weights.
fn products16(
  a0: vec4<u32>, a1: vec4<u32>, a2: vec4<u32>, a3: vec4<u32>, w0: vec4<u32>, w1: vec4<u32>, w2: vec4<u32>, w3: vec4<u32>
) -> mat4x4<f32> {
  return transpose(widened4(w0.x, w1.x, w2.x, w3.x)) * widened4(a0.x, a1.x, a2.x, a3.x)
    + transpose(widened4(w0.y, w1.y, w2.y, w3.y)) * widened4(a0.y, a1.y, a2.y, a3.y)
    + transpose(widened4(w0.z, w1.z, w2.z, w3.z)) * widened4(a0.z, a1.z, a2.z, a3.z)
    + transpose(widened4(w0.w, w1.w, w2.w, w3.w)) * widened4(a0.w, a1.w, a2.w, a3.w);
}
