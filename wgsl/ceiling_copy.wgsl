// uses threads_128
// Measures what memory reaches at most: each thread copies 16 bytes.

struct Params {
  words: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(index: u32) {
  if (index < params.words) {
    y[index] = x[index];
  }
}
