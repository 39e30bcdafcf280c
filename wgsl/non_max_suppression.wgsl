// uses lanes
// uses tree
// uses quotient
// The best boxes of a map and class, none of which overlaps an earlier one by more than `overlap`; a workgroup each. A
// thread looks at every 64th box, and no other thread at these.

override centred: bool = false;

const GONE = INFINITY_BITS | SIGN_BIT;  // −∞: the score of a box that is no candidate any more

struct Params {
  rows: u32,  // maps · classes
  classes: u32,
  boxes: u32,
  most: u32,
  overlap: f32,
  least: f32,
}

@group(0) @binding(0) var<storage, read> boxes: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read_write> rest: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

struct Best {
  rank: i32,
  at: u32,
}

alias Partial = Best;

fn combined(a: Partial, b: Partial) -> Partial {
  if (b.rank > a.rank || (b.rank == a.rank && b.at < a.at)) {
    return b;
  }
  return a;
}

// Two corners: the lesser coordinates, and the greater ones.
fn corners(box: vec4<f32>) -> vec4<f32> {
  if (centred) {
    return vec4<f32>(box.xy - box.zw / 2.0, box.xy + box.zw / 2.0);
  }
  return vec4<f32>(min(box.xy, box.zw), max(box.xy, box.zw));
}

fn overlap(a: vec4<f32>, b: vec4<f32>) -> f32 {
  let sides = max(min(a.zw, b.zw) - max(a.xy, b.xy), vec2<f32>());
  let of_a = a.zw - a.xy;
  let of_b = b.zw - b.xy;
  let shared_area = sides.x * sides.y;
  let whole = of_a.x * of_a.y + of_b.x * of_b.y - shared_area;
  if (shared_area <= 0.0 || of_a.x * of_a.y <= 0.0 || of_b.x * of_b.y <= 0.0 || whole <= 0.0) {
    return 0.0;
  }
  return bitcast<f32>(quotient(bitcast<u32>(shared_area), bitcast<u32>(whole)));
}

fn store(row: u32, numbers: vec3<u32>, there: bool) {
  for (var n = 0u; n < 3u; n++) {
    y[6u * row + 2u * n] = select(0xffffffffu, numbers[n], there);
    y[6u * row + 2u * n + 1u] = select(0xffffffffu, 0u, there);
  }
}

fn run(row: u32, local: u32) {
  let works = row < params.rows;
  let map = row / params.classes;
  let first = row * params.boxes;
  let count = select(0u, params.boxes, works);
  for (var i = local; i < count; i += lanes) {
    let score = scores[first + i];
    rest[first + i] = select(GONE, bitcast<u32>(score), score > params.least);
  }
  for (var n = 0u; n < params.most; n++) {
    var best = Best(i32(0x80000000u), 0xffffffffu);
    for (var i = local; i < count; i += lanes) {
      let score = rest[first + i];
      if (score != GONE) {
        best = combined(best, Best(rank(bitcast<f32>(score)), i));
      }
    }
    let at = reduced_for_all(best, local).at;
    let found = works && at != 0xffffffffu;
    if (works && local == 0u) {
      store(row * params.most + n, vec3<u32>(map, row % params.classes, at), found);
    }
    if (found) {
      let chosen = corners(boxes[map * params.boxes + at]);
      for (var i = local; i < count; i += lanes) {
        if (rest[first + i] != GONE && (i == at || overlap(corners(boxes[map * params.boxes + i]), chosen) > params.overlap)) {
          rest[first + i] = GONE;
        }
      }
    }
  }
}
