// uses dot4
// uses int8
// Sums, products and extremes of two tensors that stand for floats, quantized.

const ADD = 0u;
const MUL = 1u;
const MAXIMUM = 2u;
const MINIMUM = 3u;

override function: u32 = ADD;

struct Arithmetic {
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

fn floats_of_a(a: vec4<i32>) -> vec4<f32> {
  return vec4<f32>(a - params.arithmetic.a_zero_point) * params.arithmetic.a_scale;
}

fn floats_of_b(b: vec4<i32>) -> vec4<f32> {
  return vec4<f32>(b - params.arithmetic.b_zero_point) * params.arithmetic.b_scale;
}

fn combined(a: vec4<f32>, b: vec4<f32>) -> u32 {
  var v = vec4<f32>();
  switch function {
    case MUL: {
      v = a * b;
    }
    case MAXIMUM: {
      v = max(a, b);
    }
    case MINIMUM: {
      v = min(a, b);
    }
    default: {
      v = a + params.arithmetic.alpha * b;
    }
  }
  let scaled = v * params.arithmetic.inv_y_scale;
  return pack(rounded(scaled, params.arithmetic.y_zero_point, params.arithmetic.y_min, params.arithmetic.y_max));
}
