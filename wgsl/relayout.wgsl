// uses threads
// uses layout
// int8 words from one layout to another; one thread a word of y.

struct Params {
  x_channels: u32,
  x_inner: u32,
  x_padded: u32,
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
  var out = 0u;
  for (var lane = 0u; lane < elements.count; lane++) {
    let element = elements.first + lane * params.tensor.inner;
    let plane = element / params.x_inner;
    let byte = (plane / params.x_channels * params.x_inner + element % params.x_inner) * params.x_padded + plane % params.x_channels;
    out |= ((x[byte / 4u] >> (byte % 4u * 8u)) & 255u) << (lane * 8u);
  }
  y[word] = out;
}
