// uses workgroups_128
// uses dot4
// Measures what dot4I8Packed reaches at most: sixteen chains of it in registers, with nothing read or written on the way.

struct Params {
  rounds: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(_workgroup: u32, local: u32) {
  let a = vec4<u32>(x[local % 64u]) + vec4<u32>(0u, 1u, 2u, 3u);
  let b = a + vec4<u32>(4u);
  let c = a + vec4<u32>(8u);
  let d = a + vec4<u32>(12u);
  var p = vec4<i32>();
  var q = vec4<i32>();
  var r = vec4<i32>();
  var s = vec4<i32>();
  for (var i = 0u; i < params.rounds; i++) {
    // each chain takes four in a row, as the kernels' do; no two products are the same
    let w = vec4<u32>(i, ~i, i << 1u, i ^ 85u);
    p = four16(p, w, a, b, c, d);
    q = four16(q, w.yzwx, a, b, c, d);
    r = four16(r, w.zwxy, a, b, c, d);
    s = four16(s, w.wxyz, a, b, c, d);
  }
  let total = p + q + r + s;
  if (total.x + total.y + total.z + total.w == 12345) {
    y[local % 64u] = 1u;
  }
}
