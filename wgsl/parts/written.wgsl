// uses layout
// Results, a word of four int8 at a time: as they are, or dequantized, as float32 in row-major order.

override dequantizes: bool = false;

struct Written {
  scale: f32,
  zero_point: i32,
  @align(16) tensor: Layout,  // of the words
}

fn write(at: u32, word: u32) {
  if (!dequantizes) {
    y[at] = word;
    return;
  }
  let elements = elements_of(params.written.tensor, at);
  let q = (vec4<i32>(bitcast<i32>(word)) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
  let v = vec4<f32>(q - params.written.zero_point) * params.written.scale;
  for (var lane = 0u; lane < elements.count; lane++) {
    y[elements.first + lane * params.written.tensor.inner] = bitcast<u32>(v[lane]);
  }
}
