// uses threads_128
// uses quantized
// float32 to int8 where both lie in the same order without gaps; one thread 16 elements.

struct Params {
  groups: u32,
  @align(16) by: Quantizing,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

fn quantized_word(bits: vec4<u32>) -> u32 {
  return pack(quantized(bits, params.by));
}

fn run(i: u32) {
  if (i < params.groups) {
    y[i] = vec4<u32>(
      quantized_word(x[4u * i]), quantized_word(x[4u * i + 1u]), quantized_word(x[4u * i + 2u]),
      quantized_word(x[4u * i + 3u]));
  }
}
