// y = x in another dtype; one thread an element of y, or a word of four 1-byte elements.

const FLOAT32 = 0u;
const INT32 = 1u;
const INT64 = 2u;
const INT8 = 3u;
const UINT8 = 4u;
const BOOL = 5u;

override x_dtype: u32 = FLOAT32;
override y_dtype: u32 = FLOAT32;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// An integer in 64 bits, low word first; the bits of a float.
fn load(i: u32) -> vec2<u32> {
  switch x_dtype {
    case FLOAT32: {
      return vec2<u32>(x[i], 0u);
    }
    case INT32: {
      return vec2<u32>(x[i], u32(bitcast<i32>(x[i]) >> 31u));
    }
    case INT64: {
      return vec2<u32>(x[2u * i], x[2u * i + 1u]);
    }
    case INT8: {
      let v = extractBits(bitcast<i32>(x[i / 4u]), i % 4u * 8u, 8u);
      return vec2<u32>(u32(v), u32(v >> 31u));
    }
    default: {
      return vec2<u32>(extractBits(x[i / 4u], i % 4u * 8u, 8u), 0u);
    }
  }
}

fn negative(v: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(~v.x + 1u, ~v.y + select(0u, 1u, v.x == 0u));
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

// The 32 leading bits, the last of them set where any that follows is: so one rounding remains.
fn int_to_float(v: vec2<u32>) -> f32 {
  let below_zero = v.y >> 31u == 1u;
  var m = v;
  if (below_zero) {
    m = negative(v);
  }
  var magnitude = f32(m.x);
  if (m.y != 0u) {
    let left = countLeadingZeros(m.y);
    var top = m.y << left;
    if (left != 0u) {
      top |= m.x >> (32u - left);
    }
    if (m.x << left != 0u) {
      top |= 1u;
    }
    magnitude = f32(top) * bitcast<f32>((159u - left) << 23u);
  }
  return select(magnitude, -magnitude, below_zero);
}

fn convert(i: u32) -> vec2<u32> {
  let v = load(i);
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

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (y_dtype >= INT8) {
    if (i >= (params.count + 3u) / 4u) {
      return;
    }
    var word = 0u;
    for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
      word = insertBits(word, convert(4u * i + lane).x, lane * 8u, 8u);
    }
    y[i] = word;
    return;
  }
  if (i >= params.count) {
    return;
  }
  let v = convert(i);
  if (y_dtype == INT64) {
    y[2u * i] = v.x;
    y[2u * i + 1u] = v.y;
  } else {
    y[i] = v.x;
  }
}
