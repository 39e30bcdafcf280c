requires packed_4x8_integer_dot_product;

fn dot4(a: u32, b: u32) -> i32 {
  return dot4I8Packed(a, b);
}

// Products of 16 int8 pairs, added to `acc` one after another: GPUs have an instruction for a dot product plus a number.
fn dot16(acc: i32, a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4(a.w, b.w) + (dot4(a.z, b.z) + (dot4(a.y, b.y) + (dot4(a.x, b.x) + acc)));
}

// The same for four rows of b.
fn four16(acc: vec4<i32>, a: vec4<u32>, b0: vec4<u32>, b1: vec4<u32>, b2: vec4<u32>, b3: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(dot16(acc.x, a, b0), dot16(acc.y, a, b1), dot16(acc.z, a, b2), dot16(acc.w, a, b3));
}

fn unpack(word: u32) -> vec4<i32> {
  let w = vec4<i32>(bitcast<i32>(word));
  return (w << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}
