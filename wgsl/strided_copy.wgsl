// uses threads
// Moves elements between x and y: y[i] = x[place(i)]. One thread an element of four bytes, or a word of y where elements
// have one byte; those of eight bytes are two words, their innermost axis.

override bytes: bool = false;
// x becomes a part of y, and the rest of y stays: y[place(i)] = x[i] for words; bytes that no element of x goes to stay.
override insert: bool = false;

const OUTSIDE = 0xffffffffu;

struct Params {
  count: u32,
  rank: u32,
  base: u32,
  fill_even: u32,
  fill_odd: u32,
  axes: array<vec4<u32>, 20>,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// An axis is its size, the stride (modulo 2^32), and the first and end of the coordinates that have an element; the
// innermost comes first.
fn place(index: u32) -> u32 {
  var rest = index;
  var at = params.base;
  for (var d = 0u; d < params.rank; d++) {
    let axis = params.axes[d];
    let c = rest % axis.x;
    rest /= axis.x;
    if (c < axis.z || c >= axis.w) {
      return OUTSIDE;
    }
    at += c * axis.y;
  }
  return at;
}

fn move_word(i: u32) {
  let at = place(i);
  if (insert) {
    y[at] = x[i];
  } else if (at == OUTSIDE) {
    y[i] = select(params.fill_even, params.fill_odd, i % 2u == 1u);
  } else {
    y[i] = x[at];
  }
}

fn move_bytes(i: u32) {
  var word = 0u;
  if (insert) {
    word = y[i];
  }
  for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
    let at = place(4u * i + lane);
    if (at != OUTSIDE) {
      word = insertBits(word, x[at / 4u] >> (at % 4u * 8u), lane * 8u, 8u);
    } else if (!insert) {
      word = insertBits(word, params.fill_even, lane * 8u, 8u);
    }
  }
  y[i] = word;
}

fn run(i: u32) {
  if (bytes && i < (params.count + 3u) / 4u) {
    move_bytes(i);
  }
  if (!bytes && i < params.count) {
    move_word(i);
  }
}
