// uses layout
// uses quantized
// 16 int8 of x at a time; or of float32 in row-major order, which are quantized as they are read.

override quantizes: bool = false;

struct Read {
  tensor: Layout,  // that x would have as int8
  @align(16) by: Quantizing,
}

fn x_word(at: u32) -> u32 {
  if (!quantizes) {
    return x[at / 4u][at % 4u];
  }
  let elements = elements_of(params.read.tensor, at);
  // weights are zero where there are no channels; loops within that over K would reach the limit that lavapipe has
  let lanes = min(vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(max(elements.count, 1u) - 1u));
  let at_lane = elements.first + lanes * params.read.tensor.inner;
  let bits = vec4<u32>(
    x[at_lane.x / 4u][at_lane.x % 4u], x[at_lane.y / 4u][at_lane.y % 4u],
    x[at_lane.z / 4u][at_lane.z % 4u], x[at_lane.w / 4u][at_lane.w % 4u]);
  return pack(quantized(bits, params.read.by));
}

fn x_step(at: u32) -> vec4<u32> {
  if (!quantizes) {
    return x[at];
  }
  return vec4<u32>(x_word(4u * at), x_word(4u * at + 1u), x_word(4u * at + 2u), x_word(4u * at + 3u));
}
