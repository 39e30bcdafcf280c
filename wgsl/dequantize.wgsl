// uses threads
// uses layout
// uses dot4
// int8 words in their layout to float32, row-major; one thread a word.

struct Params {
  scale: f32,
  zero_point: i32,
  @align(16) tensor: Layout,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(word: u32) {
  if (word >= params.tensor.words) {
    return;
  }
  let elements = elements_of(params.tensor, word);
  let v = vec4<f32>(unpack(x[word]) - params.zero_point) * params.scale;
  for (var lane = 0u; lane < elements.count; lane++) {
    y[elements.first + lane * params.tensor.inner] = v[lane];
  }
}
