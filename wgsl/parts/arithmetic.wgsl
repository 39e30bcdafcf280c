// uses dot4
// uses int8
// uses scaled
// uses through
// Sums, products and extremes of two tensors that stand for floats, quantized. `tables` holds the words of a
// table of results, then the floats that a and b stand for, where these are looked up.

const ADD = 0u;
const MUL = 1u;
const MAXIMUM = 2u;
const MINIMUM = 3u;
const FIXED_POINT_SUM = 4u;
const SCALED_PRODUCT = 5u;

override function: u32 = ADD;
override looks_up_a: bool = false;
override looks_up_b: bool = false;

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
  a_multiplier: i32,
  b_multiplier: i32,
  bias: i32,
  shift: u32,
  y_scale: f32,
}

fn table_word(i: u32) -> u32 {
  return tables[i];
}

fn looked_up(q: vec4<i32>, first: u32) -> vec4<f32> {
  let at = vec4<u32>(q + 128) + first;
  return bitcast<vec4<f32>>(vec4<u32>(tables[at.x], tables[at.y], tables[at.z], tables[at.w]));
}

fn floats_of_a(a: vec4<i32>) -> vec4<f32> {
  if (looks_up_a) {
    return looked_up(a, 64u);
  }
  return vec4<f32>(a - params.arithmetic.a_zero_point) * params.arithmetic.a_scale;
}

fn floats_of_b(b: vec4<i32>) -> vec4<f32> {
  if (looks_up_b) {
    return looked_up(b, 320u);
  }
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
  var quanta = v * params.arithmetic.inv_y_scale;
  if (divides) {
    for (var lane = 0u; lane < 4u; lane++) {
      quanta[lane] = scaled(bitcast<u32>(v[lane]), params.arithmetic.y_scale, params.arithmetic.inv_y_scale);
    }
  }
  return through(
    pack(rounded(quanta, params.arithmetic.y_zero_point, params.arithmetic.y_min, params.arithmetic.y_max)));
}

// Of int8 values as they are stored.
fn combined_int8(a: vec4<i32>, b: vec4<i32>) -> u32 {
  let low = params.arithmetic.y_min;
  let high = params.arithmetic.y_max;
  let zero_point = params.arithmetic.y_zero_point;
  switch function {
    case FIXED_POINT_SUM: {
      let sum = params.arithmetic.bias + a * params.arithmetic.a_multiplier + b * params.arithmetic.b_multiplier;
      let whole = (sum >> vec4<u32>(params.arithmetic.shift)) + zero_point;
      return through(pack(clamp(whole, vec4<i32>(i32(low)), vec4<i32>(i32(high)))));
    }
    case SCALED_PRODUCT: {
      let product = (a - params.arithmetic.a_zero_point) * (b - params.arithmetic.b_zero_point);
      return through(pack(rounded(vec4<f32>(product) * params.arithmetic.alpha, zero_point, low, high)));
    }
    default: {
      return combined(floats_of_a(a), floats_of_b(b));
    }
  }
}
