// y = a where the condition holds, else b, all three broadcast; one thread an element of y, or a word of four 1-byte
// elements.

override item: u32 = 4u;  // bytes of an element

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

struct Place {
  in_a: bool,
  at: u32,
}

// Where an element of y comes from. An axis is its size and the strides in the three; the innermost comes first.
fn source(i: u32) -> Place {
  var at = vec3<u32>();
  var rest = i;
  for (var d = 0u; d < params.rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * axis.yzw;
    rest /= axis.x;
  }
  let holds = extractBits(condition[at.x / 4u], at.x % 4u * 8u, 8u) != 0u;
  return Place(holds, select(at.z, at.y, holds));
}

fn word_at(from_a: bool, word: u32) -> u32 {
  if (from_a) {
    return a[word];
  }
  return b[word];
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 64u + local;
  if (item == 1u) {
    if (i < (params.count + 3u) / 4u) {
      var word = 0u;
      for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
        let place = source(4u * i + lane);
        let byte = extractBits(word_at(place.in_a, place.at / 4u), place.at % 4u * 8u, 8u);
        word = insertBits(word, byte, 8u * lane, 8u);
      }
      y[i] = word;
    }
    return;
  }
  if (i < params.count) {
    let place = source(i);
    let words = item / 4u;
    for (var n = 0u; n < words; n++) {
      y[words * i + n] = word_at(place.in_a, words * place.at + n);
    }
  }
}
