// uses threads
// uses layout
// uses walk_two
// uses arithmetic
// A function of two int8 tensors whose shapes broadcast, or of one and a float32 one (`b_is_float`); one thread a word
// of y.

override b_is_float: bool = false;

struct Params {
  rank: u32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
  @align(16) arithmetic: Arithmetic,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(word);
  var p = vec4<i32>();
  var q = vec4<i32>();
  for (var lane = 0u; lane < elements.count; lane++) {
    let at = walk(elements.first + lane * params.tensor.inner, 0u, params.rank);
    p[lane] = unpack(a[at.x / 4u])[at.x % 4u];
    if (b_is_float) {
      q[lane] = bitcast<i32>(b[at.y]);
    } else {
      q[lane] = unpack(b[at.y / 4u])[at.y % 4u];
    }
  }
  if (b_is_float) {
    y[word] = combined(floats_of_a(p), bitcast<vec4<f32>>(q));
  } else {
    y[word] = combined_int8(p, q);
  }
}
