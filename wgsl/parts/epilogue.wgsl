// uses int8
// What ends every sum of int8 products: scales, bias, activation and requantization.

struct Epilogue {
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
  table: u32,  // where in `channel` 16 vectors hold a table of 256 bytes, if results go through one
}

override through_table: bool = false;

// The byte that an int8 result becomes.
fn entry(q: i32) -> u32 {
  let at = u32(q + 128);
  let words = channel[params.epilogue.table + at / 16u];
  return (words[at / 4u % 4u] >> (at % 4u * 8u)) & 255u;
}

// Four sums to four int8: those of a word of channels. `channel` has the scales of its four channels, then their biases.
fn requantized(acc: vec4<i32>, word: u32) -> u32 {
  let v = vec4<f32>(acc) * params.epilogue.x_scale * bitcast<vec4<f32>>(channel[2u * word])
    + bitcast<vec4<f32>>(channel[2u * word + 1u]);
  let activated = max(v, vec4<f32>(params.epilogue.activation_min));
  let q = rounded(
    activated * params.epilogue.inv_y_scale, params.epilogue.y_zero_point, params.epilogue.y_min, params.epilogue.y_max);
  if (through_table) {
    return entry(q.x) | (entry(q.y) << 8u) | (entry(q.z) << 16u) | (entry(q.w) << 24u);
  }
  return pack(q);
}
