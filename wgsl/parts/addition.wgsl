// uses dot4
// uses int8
// Sums of two int8 tensors.

struct Addition {
  a_zero_point: i32,
  a_scale: f32,
  b_zero_point: i32,
  b_scale: f32,
  alpha: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
}

fn add(a: vec4<i32>, b: vec4<i32>) -> u32 {
  let v = vec4<f32>(a - params.addition.a_zero_point) * params.addition.a_scale
    + params.addition.alpha * (vec4<f32>(b - params.addition.b_zero_point) * params.addition.b_scale);
  return pack(
    rounded(v * params.addition.inv_y_scale, params.addition.y_zero_point, params.addition.y_min, params.addition.y_max));
}
