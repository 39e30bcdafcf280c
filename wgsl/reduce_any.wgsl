// uses reduction
// Whether any element is not zero, over any dimensions. `lanes` threads share a word of four results, each
// taking every lanes-th element.

override item: u32 = 1u;  // bytes of an element
override floats: bool = false;

struct Params {
  results: u32,
  count: u32,
  kept: Axes,
  reduced: Axes,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

alias Partial = u32;

fn combined(a: Partial, b: Partial) -> Partial {
  return a | b;
}

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

fn run(word_of_y: u32, local: u32) {
  let first = 4u * word_of_y;
  var word = 0u;
  for (var result = first; result < min(first + 4u, params.results); result++) {
    let base = first_term(result);
    var found = 0u;
    for (var i = local % lanes; i < params.count && found == 0u; i += lanes) {
      found = select(0u, 1u, holds(base + term(i)));
    }
    word |= found << (8u * (result - first));
  }
  let whole = reduced(word, local);
  if (local % lanes == 0u && first < params.results) {
    y[word_of_y] = whole;
  }
}
