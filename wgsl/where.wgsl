// uses elements
// uses walk_three
// y = a where the condition holds, else b, all three broadcast.

override item: u32 = 4u;  // bytes of an element

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in condition, a and b
}

@group(0) @binding(0) var<storage, read> condition: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

fn word_at(from_a: bool, word: u32) -> u32 {
  if (from_a) {
    return a[word];
  }
  return b[word];
}

fn y_bytes() -> u32 {
  return item;
}

fn element(i: u32) -> vec2<u32> {
  let at = walk(i, 0u, params.rank);
  let holds = extractBits(condition[at.x / 4u], at.x % 4u * 8u, 8u) != 0u;
  let place = select(at.z, at.y, holds);
  switch item {
    case 1u: {
      return vec2<u32>(extractBits(word_at(holds, place / 4u), place % 4u * 8u, 8u), 0u);
    }
    case 4u: {
      return vec2<u32>(word_at(holds, place), 0u);
    }
    default: {
      return vec2<u32>(word_at(holds, 2u * place), word_at(holds, 2u * place + 1u));
    }
  }
}
