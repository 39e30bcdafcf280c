// The largest or smallest element over any dimensions, or where the first such stands; NaN wins either way.
// `lanes` threads share an output, each taking every lanes-th element.

override lanes: u32 = 1u;
override integer: bool = false;  // int32 in place of float32
override smallest: bool = false;
override index: bool = false;  // write where it stands, as int32
override wide: bool = false;   // or as int64

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

struct Best {
  rank: i32,
  at: u32,
}

var<workgroup> partial: array<Best, 64>;

// Of the bits of an element.
fn ranked(v: u32) -> i32 {
  if (integer) {
    return bitcast<i32>(select(v, ~v, smallest));
  }
  let r = rank(bitcast<f32>(v));
  return select(r, -r, smallest && r != RANK_OF_NAN);
}

fn better(a: Best, b: Best) -> bool {
  return a.rank > b.rank || (a.rank == b.rank && a.at < b.at);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let output = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  let base = strided(output, params.kept_sizes[0], params.kept_strides[0]);
  var best = Best(i32(0x80000000u), 0xffffffffu);
  if (output < params.outputs) {
    for (var i = local % lanes; i < params.count; i += lanes) {
      let candidate = Best(ranked(x[base + strided(i, params.reduced_sizes[0], params.reduced_strides[0])]), i);
      if (better(candidate, best)) {
        best = candidate;
      }
    }
  }
  partial[local] = best;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half && better(partial[local + half], partial[local])) {
      partial[local] = partial[local + half];
    }
  }
  if (local % lanes == 0u && output < params.outputs) {
    let at = partial[local].at;
    if (!index) {
      y[output] = x[base + strided(at, params.reduced_sizes[0], params.reduced_strides[0])];
    } else if (wide) {
      y[2u * output] = at;
      y[2u * output + 1u] = 0u;
    } else {
      y[output] = at;
    }
  }
}
