// uses threads
// uses layout
// uses quantized
// float32, row-major, to int8 words in their layout; one thread a word.

struct Params {
  @align(16) by: Quantizing,
  @align(16) tensor: Layout,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(params.tensor, word);
  var bits = vec4<u32>();
  for (var lane = 0u; lane < elements.count; lane++) {
    bits[lane] = x[elements.first + lane * params.tensor.inner];
  }
  y[word] = pack(quantized(bits, params.by));
}
