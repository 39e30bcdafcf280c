// uses threads
// uses layout
// uses scaled
// uses int8
// float32, row-major, to int8 words in their layout; one thread a word.

struct Params {
  scale: f32,
  inv_scale: f32,
  zero_point: i32,
  qmin: i32,
  qmax: i32,
  @align(16) tensor: Layout,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn quantize(bits: u32) -> i32 {
  if (is_nan(bitcast<f32>(bits))) {
    return params.zero_point;
  }
  let q = round(scaled(bits, params.scale, params.inv_scale)) + f32(params.zero_point);
  return i32(clamp(q, f32(params.qmin), f32(params.qmax)));
}

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(word);
  var q = vec4<i32>();
  for (var lane = 0u; lane < elements.count; lane++) {
    q[lane] = quantize(x[elements.first + lane * params.tensor.inner]);
  }
  y[word] = pack(q);
}
