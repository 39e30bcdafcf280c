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
}

// Four sums to four int8: those of a word of channels. `channel` has the scales of its four channels, then their biases.
fn requantized(acc: vec4<i32>, word: u32) -> u32 {
  let v = vec4<f32>(acc) * params.epilogue.x_scale * channel[2u * word] + channel[2u * word + 1u];
  let activated = max(v, vec4<f32>(params.epilogue.activation_min));
  return pack(
    rounded(
      activated * params.epilogue.inv_y_scale, params.epilogue.y_zero_point, params.epilogue.y_min, params.epilogue.y_max));
}
