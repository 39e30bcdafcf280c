// Integers in 64 bits: the low word, then the high one.

const FLOAT32 = 0u;
const INT32 = 1u;
const INT64 = 2u;
const INT8 = 3u;
const UINT8 = 4u;
const BOOL = 5u;
const INT16 = 6u;
const UINT16 = 7u;
const UINT32 = 8u;

fn bytes_of(dtype: u32) -> u32 {
  switch dtype {
    case INT64: {
      return 8u;
    }
    case INT16, UINT16: {
      return 2u;
    }
    case INT8, UINT8, BOOL: {
      return 1u;
    }
    default: {
      return 4u;
    }
  }
}

// The word that element i begins in.
fn first_word(i: u32, dtype: u32) -> u32 {
  switch dtype {
    case FLOAT32, INT32, UINT32: {
      return i;
    }
    case INT64: {
      return 2u * i;
    }
    case INT16, UINT16: {
      return i / 2u;
    }
    default: {
      return i / 4u;
    }
  }
}

// Element i of that dtype, from its word and the one after; the bits of a float.
fn widened_integer(word: u32, next: u32, i: u32, dtype: u32) -> vec2<u32> {
  switch dtype {
    case FLOAT32, UINT32: {
      return vec2<u32>(word, 0u);
    }
    case INT16: {
      let v = extractBits(bitcast<i32>(word), i % 2u * 16u, 16u);
      return vec2<u32>(u32(v), u32(v >> 31u));
    }
    case UINT16: {
      return vec2<u32>(extractBits(word, i % 2u * 16u, 16u), 0u);
    }
    case INT32: {
      return vec2<u32>(word, u32(bitcast<i32>(word) >> 31u));
    }
    case INT64: {
      return vec2<u32>(word, next);
    }
    case INT8: {
      let v = extractBits(bitcast<i32>(word), i % 4u * 8u, 8u);
      return vec2<u32>(u32(v), u32(v >> 31u));
    }
    default: {
      return vec2<u32>(extractBits(word, i % 4u * 8u, 8u), 0u);
    }
  }
}

fn is_negative(v: vec2<u32>) -> bool {
  return v.y >> 31u == 1u;
}

fn negative(v: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(~v.x + 1u, ~v.y + u32(v.x == 0u));
}

fn magnitude(v: vec2<u32>) -> vec2<u32> {
  return select(v, negative(v), is_negative(v));
}

fn below_unsigned(v: vec2<u32>, w: vec2<u32>) -> bool {
  return v.y < w.y || (v.y == w.y && v.x < w.x);
}

fn below(v: vec2<u32>, w: vec2<u32>) -> bool {
  return below_unsigned(v ^ vec2<u32>(0u, 0x80000000u), w ^ vec2<u32>(0u, 0x80000000u));
}

fn added(v: vec2<u32>, w: vec2<u32>) -> vec2<u32> {
  let low = v.x + w.x;
  return vec2<u32>(low, v.y + w.y + u32(low < v.x));
}

fn product(v: vec2<u32>, w: vec2<u32>) -> vec2<u32> {
  let p = vec2<u32>(v.x & 0xffffu, v.x >> 16u);
  let q = vec2<u32>(w.x & 0xffffu, w.x >> 16u);
  let first = p.y * q.x + ((p.x * q.x) >> 16u);
  let second = p.x * q.y + (first & 0xffffu);
  let carried = p.y * q.y + (first >> 16u) + (second >> 16u);
  return vec2<u32>(v.x * w.x, v.x * w.y + v.y * w.x + carried);
}

// Rounded half to even here, as f32(u32) may be rounded either way: from the 32 leading bits, the last of them set where
// any that follows is.
fn int_to_float(v: vec2<u32>) -> f32 {
  var m = magnitude(v);
  var shift = 0u;
  if (m.y == 0u) {
    m = vec2<u32>(0u, m.x);
    shift = 32u;
  }
  let left = countLeadingZeros(m.y) % 32u;
  var top = m.y << left;
  if (left != 0u) {
    top |= m.x >> (32u - left);
  }
  if (m.x << left != 0u) {
    top |= 1u;
  }
  var mantissa = top >> 8u;
  let rest = top & 255u;
  if (rest > 128u || (rest == 128u && mantissa % 2u == 1u)) {
    mantissa++;
  }
  let r = f32(mantissa) * bitcast<f32>((167u - left - shift) << 23u);
  return select(r, -r, is_negative(v));
}
