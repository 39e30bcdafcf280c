// uses elements
// uses walk_one
// uses wide
// x in another dtype, broadcast to y; or the numbers start, start + step, ….

override x_dtype: u32 = FLOAT32;
override y_dtype: u32 = FLOAT32;
override sequence: bool = false;  // y is of int64 numbers from `start` on, `step` apart, in place of x

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,  // of y, with the stride in x
  // in 64 bits, low word first
  start: vec4<u32>,
  step: vec4<u32>,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn load(i: u32) -> vec2<u32> {
  let word = first_word(i, x_dtype);
  return widened_integer(x[word], x[word + u32(x_dtype == INT64)], i, x_dtype);
}

// Towards zero. What int64 cannot hold becomes its lowest value.
fn float_to_int(bits: u32) -> vec2<u32> {
  let exponent = (bits >> 23u) & 255u;
  let mantissa = (bits & 0x7fffffu) | 0x800000u;
  if (exponent < 127u) {
    return vec2<u32>();
  }
  if (exponent >= 190u) {
    return vec2<u32>(0u, 0x80000000u);
  }
  var v = vec2<u32>(mantissa, 0u);
  if (exponent <= 150u) {
    v.x = mantissa >> (150u - exponent);
  } else if (exponent < 182u) {
    let left = exponent - 150u;
    v = vec2<u32>(mantissa << left, mantissa >> (32u - left));
  } else {
    v = vec2<u32>(0u, mantissa << (exponent - 182u));
  }
  if (bits >> 31u == 1u) {
    v = negative(v);
  }
  return v;
}

fn in_sequence(i: u32) -> vec2<u32> {
  return added(params.start.xy, product(vec2<u32>(i, 0u), params.step.xy));
}

fn element(i: u32) -> vec2<u32> {
  var v: vec2<u32>;
  if (sequence) {
    v = in_sequence(i);
  } else {
    v = load(walk(i, 0u, params.rank));
  }
  if (y_dtype == BOOL) {
    let bits = select(v.x | v.y, v.x & 0x7fffffffu, x_dtype == FLOAT32);
    return vec2<u32>(select(0u, 1u, bits != 0u), 0u);
  }
  if (y_dtype == FLOAT32) {
    return vec2<u32>(bitcast<u32>(int_to_float(v)), 0u);
  }
  if (x_dtype == FLOAT32) {
    return float_to_int(v.x);
  }
  return v;
}

fn y_bytes() -> u32 {
  return bytes_of(y_dtype);
}
