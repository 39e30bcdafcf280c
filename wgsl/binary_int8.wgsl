// uses threads
// uses layout
// uses walk_two
// uses arithmetic
// uses quantized
// uses written
// A function of two int8 tensors whose shapes broadcast, or of one and a float32 one (`b_is_float`); one thread a word
// of y.

override b_is_float: bool = false;
// they are float32 as well, and quantized first
override quantizes_a: bool = false;
override quantizes_b: bool = false;

struct Params {
  rank: u32,
  @align(16) tensor: Layout,
  axes: array<vec4<u32>, 8>,  // of y, with the strides in a and b
  @align(16) arithmetic: Arithmetic,
  @align(16) a_by: Quantizing,
  @align(16) b_by: Quantizing,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(params.tensor, word);
  var p = vec4<i32>();
  var q = vec4<i32>();
  for (var lane = 0u; lane < elements.count; lane++) {
    let at = walk(elements.first + lane * params.tensor.inner, 0u, params.rank);
    if (quantizes_a) {
      p[lane] = bitcast<i32>(a[at.x]);
    } else {
      p[lane] = unpack(a[at.x / 4u])[at.x % 4u];
    }
    if (b_is_float || quantizes_b) {
      q[lane] = bitcast<i32>(b[at.y]);
    } else {
      q[lane] = unpack(b[at.y / 4u])[at.y % 4u];
    }
  }
  if (quantizes_a) {
    p = quantized(bitcast<vec4<u32>>(p), params.a_by);
  }
  if (quantizes_b) {
    q = quantized(bitcast<vec4<u32>>(q), params.b_by);
  }
  if (b_is_float) {
    write(word, combined(floats_of_a(p), bitcast<vec4<f32>>(q)));
  } else {
    write(word, combined_int8(p, q));
  }
}
