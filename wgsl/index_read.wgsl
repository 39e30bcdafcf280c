// y[i] = x at the place that index tensors say. One thread an element of four bytes, or a word of y where elements have
// one byte; those of eight bytes are two words, their innermost axis.

override bytes: bool = false;

struct Params {
  count: u32,
  rank: u32,
  tensors: u32,
  // of each: the size of its axis, the stride of that in x, the words of an index, whether it may count from the end
  indexed: array<vec4<u32>, 6>,
  axes: array<vec4<u32>, 18>,
}

// uses indices
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

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (!bytes && i < params.count) {
    y[i] = x[place(i)];
  }
  if (bytes && i < (params.count + 3u) / 4u) {
    var word = 0u;
    for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
      let at = place(4u * i + lane);
      word |= extractBits(x[at / 4u], at % 4u * 8u, 8u) << (8u * lane);
    }
    y[i] = word;
  }
}
