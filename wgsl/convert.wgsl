// y = x in another dtype, x broadcast, or y = start, start + step, …; one thread an element of y, or a word of four 1-byte
// elements.

override x_dtype: u32 = FLOAT32;
override y_dtype: u32 = FLOAT32;
override sequence: bool = false;  // nothing is read: the elements are int64, the `step` apart

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,
  // in 64 bits, low word first
  start: array<vec4<u32>, 1>,
  step: array<vec4<u32>, 1>,
}

// uses wide
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

// An axis is its size and the stride in x; the innermost comes first.
fn source(i: u32) -> u32 {
  var at = 0u;
  var rest = i;
  for (var d = 0u; d < params.rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * axis.y;
    rest /= axis.x;
  }
  return at;
}

fn in_sequence(i: u32) -> vec2<u32> {
  return added(params.start[0].xy, product(vec2<u32>(i, 0u), params.step[0].xy));
}

fn convert(i: u32) -> vec2<u32> {
  var v: vec2<u32>;
  if (sequence) {
    v = in_sequence(i);
  } else {
    v = load(source(i));
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
