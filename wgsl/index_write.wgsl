// uses threads
// uses indices
// Elements of y, where index tensors or a mask say so, are replaced by elements of `values`, or these are added to them.
// Each thread looks for all that is written to its element, in order, so several writes end as if done one by one.
// One thread an element of y, or a word of four 1-byte elements.

const REPLACE = 0u;
const ADD_FLOATS = 1u;
const ADD_INTEGERS = 2u;
const ADD_TRUTHS = 3u;

override item: u32 = 4u;  // bytes of an element
override operation: u32 = REPLACE;

struct Params {
  count: u32,
  rank: u32,
  writes: u32,  // how often an element may be written to
  write_rank: u32,
  tensors: u32,
  // of each: the size of its axis, the stride of that in y, the words of an index, whether it may count from the end;
  // a mask has no words
  indexed: array<vec4<u32>, 6>,
  // of each axis of y: the end of the coordinates that are written to
  ends: array<vec4<u32>, 2>,
  // those of y, then those of what is written to each element
  axes: array<vec4<u32>, 32>,
}

@group(0) @binding(6) var<storage, read> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> y: array<u32>;
@group(0) @binding(8) var<uniform> params: Params;

fn within(element: u32) -> bool {
  var rest = element;
  for (var d = 0u; d < params.rank; d++) {
    let size = params.axes[2u * d].x;
    if (rest % size >= params.ends[d / 4u][d % 4u]) {
      return false;
    }
    rest /= size;
  }
  return true;
}

fn is_written(element: u32, at: Offsets) -> bool {
  for (var k = 0u; k < params.tensors; k++) {
    let indexed = params.indexed[k];
    let offset = offset_in(k, at);
    if (indexed.z == 0u) {
      if (extractBits(stored(k, offset / 4u), offset % 4u * 8u, 8u) == 0u) {
        return false;
      }
    } else if (index_at(k, offset, indexed.x, indexed.z, indexed.w == 1u) != element / indexed.y % indexed.x) {
      return false;
    }
  }
  return true;
}

// An element of either tensor is two words, the second of use where it has eight bytes.
fn value(i: u32) -> vec2<u32> {
  switch item {
    case 1u: {
      return vec2<u32>(extractBits(values[i / 4u], i % 4u * 8u, 8u), 0u);
    }
    case 4u: {
      return vec2<u32>(values[i], 0u);
    }
    default: {
      return vec2<u32>(values[2u * i], values[2u * i + 1u]);
    }
  }
}

fn sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  switch operation {
    case ADD_FLOATS: {
      return vec2<u32>(bitcast<u32>(bitcast<f32>(a.x) + bitcast<f32>(b.x)), 0u);
    }
    case ADD_TRUTHS: {
      return a | b;
    }
    default: {
      let low = a.x + b.x;
      return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
    }
  }
}

fn written(element: u32, before: vec2<u32>) -> vec2<u32> {
  if (!within(element)) {
    return before;
  }
  let own = offsets(element, 0u, params.rank);
  var v = before;
  for (var n = 0u; n < params.writes; n++) {
    // the last of those that replace is the one that counts
    let write = offsets(select(n, params.writes - 1u - n, operation == REPLACE), params.rank, params.write_rank);
    let at = Offsets(own.near + write.near, own.far + write.far);
    if (!is_written(element, at)) {
      continue;
    }
    if (operation == REPLACE) {
      return value(at.near.y);
    }
    v = sum(v, value(at.near.y));
  }
  return v;
}

fn run(i: u32) {
  if (item == 1u && i < (params.count + 3u) / 4u) {
    var word = y[i];
    for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
      let before = vec2<u32>(extractBits(word, 8u * lane, 8u), 0u);
      word = insertBits(word, written(4u * i + lane, before).x, 8u * lane, 8u);
    }
    y[i] = word;
  }
  if (item == 4u && i < params.count) {
    y[i] = written(i, vec2<u32>(y[i], 0u)).x;
  }
  if (item == 8u && i < params.count) {
    let v = written(i, vec2<u32>(y[2u * i], y[2u * i + 1u]));
    y[2u * i] = v.x;
    y[2u * i + 1u] = v.y;
  }
}
