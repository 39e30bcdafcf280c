// uses quotient
// What is rounded when numbers are quantized: x · 1/scale, or the quotient x / scale to the bit.

override divides: bool = false;

// The product is off by less than 2⁻²² of itself, which only near a tie of two whole numbers makes another of it.
fn scaled(bits: u32, scale: f32, inverse: f32) -> f32 {
  let product = bitcast<f32>(bits) * inverse;
  if (!divides || abs(abs(product - round(product)) - 0.5) > abs(product) * 0x1p-22f) {
    return product;
  }
  return bitcast<f32>(quotient(bits, bitcast<u32>(scale)));
}
