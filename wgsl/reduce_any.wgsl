// Whether any element is true, that is not zero, over any dimensions. `lanes` threads share a word of four results, each
// taking every lanes-th element.

override lanes: u32 = 1u;
override item: u32 = 1u;  // bytes of an element
override floats: bool = false;

struct Params {
  outputs: u32,
  count: u32,
  kept_sizes: array<vec4<u32>, 1>,
  kept_strides: array<vec4<u32>, 1>,
  reduced_sizes: array<vec4<u32>, 1>,
  reduced_strides: array<vec4<u32>, 1>,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<u32, 64>;

fn holds(i: u32) -> bool {
  switch item {
    case 1u: {
      return extractBits(x[i / 4u], i % 4u * 8u, 8u) != 0u;
    }
    case 4u: {
      // −0 is zero
      return select(x[i], x[i] << 1u, floats) != 0u;
    }
    default: {
      return (x[2u * i] | x[2u * i + 1u]) != 0u;
    }
  }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let first = 4u * (flat_workgroup(id, grid) * (64u / lanes) + local / lanes);
  var word = 0u;
  for (var output = first; output < min(first + 4u, params.outputs); output++) {
    let base = strided(output, params.kept_sizes[0], params.kept_strides[0]);
    var found = 0u;
    for (var i = local % lanes; i < params.count && found == 0u; i += lanes) {
      found = select(0u, 1u, holds(base + strided(i, params.reduced_sizes[0], params.reduced_strides[0])));
    }
    word |= found << (8u * (output - first));
  }
  partial[local] = word;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partial[local] |= partial[local + half];
    }
  }
  if (local % lanes == 0u && first < params.outputs) {
    y[first / 4u] = partial[local];
  }
}
