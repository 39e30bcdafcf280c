// For browsers without the language feature packed_4x8_integer_dot_product.
fn dot4(a: u32, b: u32) -> i32 {
  let p = unpack(a) * unpack(b);
  return p.x + p.y + p.z + p.w;
}
