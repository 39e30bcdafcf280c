// uses elements
// uses walk_two
// uses floats
// y = f(a, b), a truth value, element by element, both broadcast.

const EQ = 0u;
const NE = 1u;
const LT = 2u;
const LE = 3u;
const GT = 4u;
const GE = 5u;
const AND = 6u;
const OR = 7u;

const FLOAT32 = 0u;
const INT32 = 1u;
const BOOL = 2u;

override function: u32 = EQ;
override dtype: u32 = FLOAT32;

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// Whether the two have an order (NaN has none), and which.
fn holds(ordered: bool, less: bool, greater: bool) -> bool {
  switch function {
    case EQ: {
      return ordered && !less && !greater;
    }
    case NE: {
      return !ordered || less || greater;
    }
    case LT: {
      return ordered && less;
    }
    case LE: {
      return ordered && !greater;
    }
    case GT: {
      return ordered && greater;
    }
    default: {
      return ordered && !less;
    }
  }
}

fn compare(i: u32) -> bool {
  let at = walk(i, 0u, params.rank);
  if (dtype == FLOAT32) {
    let v = bitcast<f32>(a[at.x]);
    let w = bitcast<f32>(b[at.y]);
    return holds(!is_nan(v) && !is_nan(w), (v < w), (v > w));
  }
  if (dtype == INT32) {
    let v = bitcast<i32>(a[at.x]);
    let w = bitcast<i32>(b[at.y]);
    return holds(true, (v < w), (v > w));
  }
  let v = extractBits(a[at.x / 4u], at.x % 4u * 8u, 8u);
  let w = extractBits(b[at.y / 4u], at.y % 4u * 8u, 8u);
  if (function == AND) {
    return v != 0u && w != 0u;
  }
  if (function == OR) {
    return v != 0u || w != 0u;
  }
  return holds(true, (v < w), (v > w));
}

fn y_bytes() -> u32 {
  return 1u;
}

fn element(i: u32) -> vec2<u32> {
  return vec2<u32>(u32(compare(i)), 0u);
}
