// uses threads_128
// uses arithmetic
// A function of two int8 tensors of one shape and layout; one thread 16 elements.

struct Params {
  groups: u32,
  @align(16) arithmetic: Arithmetic,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

fn combined_words(p: u32, q: u32) -> u32 {
  return combined_int8(unpack(p), unpack(q));
}

fn run(group: u32) {
  if (group < params.groups) {
    let p = a[group];
    let q = b[group];
    y[group] = vec4<u32>(
      combined_words(p.x, q.x), combined_words(p.y, q.y), combined_words(p.z, q.z), combined_words(p.w, q.w));
  }
}
