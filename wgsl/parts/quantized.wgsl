// uses scaled
// uses int8
// float32 numbers, by their bits, quantized to int8 with one scale. NaN gives the zero point.

struct Quantizing {
  scale: f32,
  inv_scale: f32,
  zero_point: i32,
  low: f32,
  high: f32,
}

fn quantized(bits: vec4<u32>, by: Quantizing) -> vec4<i32> {
  var v = bitcast<vec4<f32>>(bits) * by.inv_scale;
  if (divides) {
    v = vec4<f32>(
      scaled(bits.x, by.scale, by.inv_scale), scaled(bits.y, by.scale, by.inv_scale),
      scaled(bits.z, by.scale, by.inv_scale), scaled(bits.w, by.scale, by.inv_scale));
  }
  let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(INFINITY_BITS);
  return select(rounded(v, by.zero_point, by.low, by.high), vec4<i32>(by.zero_point), nan);
}
