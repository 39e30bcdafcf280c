// uses threads_128
// uses addition
// q8ta_add of tensors of one shape and layout; one thread 16 elements.

struct Params {
  groups: u32,
  @align(16) addition: Addition,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

fn add_words(p: u32, q: u32) -> u32 {
  return add(unpack(p), unpack(q));
}

fn run(group: u32) {
  if (group < params.groups) {
    let p = a[group];
    let q = b[group];
    y[group] = vec4<u32>(add_words(p.x, q.x), add_words(p.y, q.y), add_words(p.z, q.z), add_words(p.w, q.w));
  }
}
