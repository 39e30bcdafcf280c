// uses elements
// uses indices
// y[i] = x at the place that index tensors say. Elements of eight bytes are two words, their innermost axis.

override bytes: bool = false;

struct Params {
  count: u32,
  rank: u32,
  tensors: u32,
  // of each: the size of its axis, the stride of that in x, the words of an index, whether it may count from the end
  indexed: array<vec4<u32>, 6>,
  axes: array<vec4<u32>, 18>,
}

@group(0) @binding(6) var<storage, read> x: array<u32>;
@group(0) @binding(7) var<storage, read_write> y: array<u32>;
@group(0) @binding(8) var<uniform> params: Params;

fn place(i: u32) -> u32 {
  let at = offsets(i, 0u, params.rank);
  var sum = at.near.y;
  for (var k = 0u; k < params.tensors; k++) {
    let indexed = params.indexed[k];
    sum += indexed.y * index_at(k, offset_in(k, at), indexed.x, indexed.z, indexed.w == 1u);
  }
  return sum;
}

fn y_bytes() -> u32 {
  return select(4u, 1u, bytes);
}

fn element(i: u32) -> vec2<u32> {
  let at = place(i);
  if (bytes) {
    return vec2<u32>(extractBits(x[at / 4u], at % 4u * 8u, 8u), 0u);
  }
  return vec2<u32>(x[at], 0u);
}
