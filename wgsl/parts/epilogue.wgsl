// uses int8
// uses through
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

override integer_bias: bool = false;  // added to the sum, where others are added to its float

fn table_word(i: u32) -> u32 {
  return channel[params.epilogue.table + i / 4u][i % 4u];
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
  return through(pack(q));
}
