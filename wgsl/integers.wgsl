// uses elements
// uses walk_two
// uses wide
// y = f(a, b) on integers of any size, element by element, both broadcast: in 64 bits, of which y keeps the lowest.

const ADD = 0u;
const MUL = 1u;
const MAXIMUM = 2u;
const MINIMUM = 3u;
const DIV_TRUNC = 4u;
const DIV_FLOOR = 5u;
const FMOD = 6u;
const REMAINDER = 7u;
const ABS = 8u;
const CLAMP = 9u;
const EQ = 10u;
const NE = 11u;
const LT = 12u;
const LE = 13u;
const GT = 14u;
const GE = 15u;
const DIV = 16u;  // a float32

override function: u32 = ADD;
override dtype: u32 = INT64;    // of a and b
override y_item: u32 = 8u;      // bytes of an element of y

struct Params {
  count: u32,
  rank: u32,
  // in 64 bits, low word first
  alpha: vec4<u32>,
  low: vec4<u32>,
  high: vec4<u32>,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn load_a(i: u32) -> vec2<u32> {
  let word = first_word(i, dtype);
  return widened_integer(a[word], a[word + u32(dtype == INT64)], i, dtype);
}

fn load_b(i: u32) -> vec2<u32> {
  let word = first_word(i, dtype);
  return widened_integer(b[word], b[word + u32(dtype == INT64)], i, dtype);
}

struct Division {
  quotient: vec2<u32>,
  rest: vec2<u32>,
}

// Towards zero, the rest with the sign of v. Division by 0 leaves 0.
fn divided(v: vec2<u32>, w: vec2<u32>) -> Division {
  if (all(w == vec2<u32>())) {
    return Division(vec2<u32>(), vec2<u32>());
  }
  let n = magnitude(v);
  let d = magnitude(w);
  var q = vec2<u32>();
  var rest = vec2<u32>();
  for (var bit = 0u; bit < 64u; bit++) {
    let next = select(n.x >> (63u - bit), n.y >> (31u - bit), bit < 32u) & 1u;
    let carry = rest.y >> 31u == 1u;
    rest = vec2<u32>((rest.x << 1u) | next, (rest.y << 1u) | (rest.x >> 31u));
    q = vec2<u32>(q.x << 1u, (q.y << 1u) | (q.x >> 31u));
    if (carry || !below_unsigned(rest, d)) {
      rest = added(rest, negative(d));
      q.x |= 1u;
    }
  }
  if (is_negative(v)) {
    rest = negative(rest);
  }
  if (is_negative(v) != is_negative(w)) {
    q = negative(q);
  }
  return Division(q, rest);
}

fn apply(v: vec2<u32>, w: vec2<u32>) -> vec2<u32> {
  switch function {
    case ADD: {
      return added(v, product(w, params.alpha.xy));
    }
    case MUL: {
      return product(v, w);
    }
    case MAXIMUM: {
      return select(v, w, below(v, w));
    }
    case MINIMUM: {
      return select(v, w, below(w, v));
    }
    case DIV_TRUNC, DIV_FLOOR, FMOD, REMAINDER: {
      var d = divided(v, w);
      if ((function == DIV_FLOOR || function == REMAINDER) && any(d.rest != vec2<u32>())
        && is_negative(v) != is_negative(w)) {
        d = Division(added(d.quotient, vec2<u32>(0xffffffffu)), added(d.rest, w));
      }
      return select(d.rest, d.quotient, function == DIV_TRUNC || function == DIV_FLOOR);
    }
    case ABS: {
      return magnitude(v);
    }
    case CLAMP: {
      let low = params.low.xy;
      let high = params.high.xy;
      let raised = select(v, low, below(v, low));
      return select(raised, high, below(high, raised));
    }
    case EQ: {
      return vec2<u32>(u32(all(v == w)), 0u);
    }
    case NE: {
      return vec2<u32>(u32(any(v != w)), 0u);
    }
    case LT: {
      return vec2<u32>(u32(below(v, w)), 0u);
    }
    case LE: {
      return vec2<u32>(u32(!below(w, v)), 0u);
    }
    case GT: {
      return vec2<u32>(u32(below(w, v)), 0u);
    }
    case GE: {
      return vec2<u32>(u32(!below(v, w)), 0u);
    }
    default: {
      return vec2<u32>(bitcast<u32>(int_to_float(v) / int_to_float(w)), 0u);
    }
  }
}

fn element(i: u32) -> vec2<u32> {
  let at = walk(i, 0u, params.rank);
  return apply(load_a(at.x), load_b(at.y));
}

fn y_bytes() -> u32 {
  return y_item;
}
