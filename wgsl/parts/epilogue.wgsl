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
override integer_bias: bool = false;  // added to the sum, where others are added to its float

// The byte that an int8 result becomes.
fn entry(q: i32) -> u32 {
  let at = u32(q + 128);
  let words = channel[params.epilogue.table + at / 16u];
  return (words[at / 4u % 4u] >> (at % 4u * 8u)) & 255u;
}

// Four sums in quanta of y: those of a word of channels. `channel` has the scales of its four channels, then their biases;
// a scale beside an integer bias is that of x and the weight over that of y.
fn in_quanta(acc: vec4<i32>, word: u32) -> vec4<f32> {
  let scale = bitcast<vec4<f32>>(channel[2u * word]);
  let bias = channel[2u * word + 1u];
  if (integer_bias) {
    return vec4<f32>(acc + bitcast<vec4<i32>>(bias)) * scale;
  }
  let v = vec4<f32>(acc) * params.epilogue.x_scale * scale + bitcast<vec4<f32>>(bias);
  return max(v, vec4<f32>(params.epilogue.activation_min)) * params.epilogue.inv_y_scale;
}

// Four sums to four int8.
fn requantized(acc: vec4<i32>, word: u32) -> u32 {
  let q = rounded(
    in_quanta(acc, word), params.epilogue.y_zero_point, params.epilogue.y_min, params.epilogue.y_max);
  if (through_table) {
    return entry(q.x) | (entry(q.y) << 8u) | (entry(q.z) << 16u) | (entry(q.w) << 24u);
  }
  return pack(q);
}
