// y = a where the condition holds, else b, all three broadcast; elements of four bytes, one a thread.

struct Params {
  count: u32,
  rank: u32,
  axes: array<vec4<u32>, 8>,
}

@group(0) @binding(0) var<storage, read> condition: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (i >= params.count) {
    return;
  }
  // an axis is its size and the strides in the three; the innermost comes first
  var at = vec3<u32>();
  var rest = i;
  for (var d = 0u; d < params.rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * axis.yzw;
    rest /= axis.x;
  }
  if (extractBits(condition[at.x / 4u], at.x % 4u * 8u, 8u) != 0u) {
    y[i] = a[at.y];
  } else {
    y[i] = b[at.z];
  }
}
