// uses threads_128
// The ceiling of memory: 16 bytes a thread, read and written.

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
