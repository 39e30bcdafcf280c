// uses gemm_io
// Large matrix products with a tile in workgroup memory: a thread makes 8 × 8 results, a workgroup 128 × 64, in steps of 32
// bytes of K.
//
// Workgroup memory is [16 bytes of K][row] of vec4, and threads deal rows out in strides, so that neighbours read
// neighbouring vec4s. Columns lie there in the order (column % 4, column / 4): a thread owns four consecutive columns, which
// make a word of y, and its neighbours still read side by side. Accumulators are named and the two halves of a step written
// out: arrays and loops cost a good part of the speed.

var<workgroup> x_tile: array<vec4<u32>, 256>;
var<workgroup> w_tile: array<vec4<u32>, 128>;

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let workgroup = flat_workgroup(id, grid);
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  let tile = workgroup % params.tiles;
  let first_row = tile / params.tiles_n * 128u;
  let first_column = tile % params.tiles_n * 64u;
  let tx = local % 8u;
  let ty = local / 8u;

  // what this thread brings to the tile: two pieces of x, one of the weights
  let piece = local % 2u;
  let bring = local / 2u;
  let row_a = origin(phase, min(first_row + bring, params.rows - 1u));
  let row_b = origin(phase, min(first_row + bring + 64u, params.rows - 1u));
  let column = weight_row(phase, first_column + bring);
  let x_spot = piece * 128u + bring;
  let w_spot = piece * 64u + bring % 4u * 16u + bring / 4u;
  var away = offset(phase, piece);
  var next_a = load_x(phase, row_a, away);
  var next_b = load_x(phase, row_b, away);
  var next_w = load_weight(phase, column, piece);

  var p0 = vec4<i32>();
  var p1 = vec4<i32>();
  var p2 = vec4<i32>();
  var p3 = vec4<i32>();
  var p4 = vec4<i32>();
  var p5 = vec4<i32>();
  var p6 = vec4<i32>();
  var p7 = vec4<i32>();
  var q0 = vec4<i32>();
  var q1 = vec4<i32>();
  var q2 = vec4<i32>();
  var q3 = vec4<i32>();
  var q4 = vec4<i32>();
  var q5 = vec4<i32>();
  var q6 = vec4<i32>();
  var q7 = vec4<i32>();
  for (var k = 0u; k < steps(phase); k += 2u) {
    workgroupBarrier();
    x_tile[x_spot] = next_a;
    x_tile[x_spot + 64u] = next_b;
    w_tile[w_spot] = next_w;
    workgroupBarrier();
    away = offset(phase, k + 2u + piece);
    next_a = load_x(phase, row_a, away);
    next_b = load_x(phase, row_b, away);
    next_w = load_weight(phase, column, k + 2u + piece);
    {
      let a0 = x_tile[ty + 0u];
      let a1 = x_tile[ty + 16u];
      let a2 = x_tile[ty + 32u];
      let a3 = x_tile[ty + 48u];
      let a4 = x_tile[ty + 64u];
      let a5 = x_tile[ty + 80u];
      let a6 = x_tile[ty + 96u];
      let a7 = x_tile[ty + 112u];
      var w0 = w_tile[tx + 0u];
      var w1 = w_tile[tx + 16u];
      var w2 = w_tile[tx + 32u];
      var w3 = w_tile[tx + 48u];
      p0 = four16(p0, a0, w0, w1, w2, w3);
      p1 = four16(p1, a1, w0, w1, w2, w3);
      p2 = four16(p2, a2, w0, w1, w2, w3);
      p3 = four16(p3, a3, w0, w1, w2, w3);
      p4 = four16(p4, a4, w0, w1, w2, w3);
      p5 = four16(p5, a5, w0, w1, w2, w3);
      p6 = four16(p6, a6, w0, w1, w2, w3);
      p7 = four16(p7, a7, w0, w1, w2, w3);
      w0 = w_tile[tx + 8u];
      w1 = w_tile[tx + 24u];
      w2 = w_tile[tx + 40u];
      w3 = w_tile[tx + 56u];
      q0 = four16(q0, a0, w0, w1, w2, w3);
      q1 = four16(q1, a1, w0, w1, w2, w3);
      q2 = four16(q2, a2, w0, w1, w2, w3);
      q3 = four16(q3, a3, w0, w1, w2, w3);
      q4 = four16(q4, a4, w0, w1, w2, w3);
      q5 = four16(q5, a5, w0, w1, w2, w3);
      q6 = four16(q6, a6, w0, w1, w2, w3);
      q7 = four16(q7, a7, w0, w1, w2, w3);
    }
    {
      let a0 = x_tile[ty + 128u];
      let a1 = x_tile[ty + 144u];
      let a2 = x_tile[ty + 160u];
      let a3 = x_tile[ty + 176u];
      let a4 = x_tile[ty + 192u];
      let a5 = x_tile[ty + 208u];
      let a6 = x_tile[ty + 224u];
      let a7 = x_tile[ty + 240u];
      var w0 = w_tile[tx + 64u];
      var w1 = w_tile[tx + 80u];
      var w2 = w_tile[tx + 96u];
      var w3 = w_tile[tx + 112u];
      p0 = four16(p0, a0, w0, w1, w2, w3);
      p1 = four16(p1, a1, w0, w1, w2, w3);
      p2 = four16(p2, a2, w0, w1, w2, w3);
      p3 = four16(p3, a3, w0, w1, w2, w3);
      p4 = four16(p4, a4, w0, w1, w2, w3);
      p5 = four16(p5, a5, w0, w1, w2, w3);
      p6 = four16(p6, a6, w0, w1, w2, w3);
      p7 = four16(p7, a7, w0, w1, w2, w3);
      w0 = w_tile[tx + 72u];
      w1 = w_tile[tx + 88u];
      w2 = w_tile[tx + 104u];
      w3 = w_tile[tx + 120u];
      q0 = four16(q0, a0, w0, w1, w2, w3);
      q1 = four16(q1, a1, w0, w1, w2, w3);
      q2 = four16(q2, a2, w0, w1, w2, w3);
      q3 = four16(q3, a3, w0, w1, w2, w3);
      q4 = four16(q4, a4, w0, w1, w2, w3);
      q5 = four16(q5, a5, w0, w1, w2, w3);
      q6 = four16(q6, a6, w0, w1, w2, w3);
      q7 = four16(q7, a7, w0, w1, w2, w3);
    }
  }
  let row = first_row + ty;
  let word = first_column / 4u + tx;
  store(phase, row, word, p0);
  store(phase, row + 16u, word, p1);
  store(phase, row + 32u, word, p2);
  store(phase, row + 48u, word, p3);
  store(phase, row + 64u, word, p4);
  store(phase, row + 80u, word, p5);
  store(phase, row + 96u, word, p6);
  store(phase, row + 112u, word, p7);
  store(phase, row, word + 8u, q0);
  store(phase, row + 16u, word + 8u, q1);
  store(phase, row + 32u, word + 8u, q2);
  store(phase, row + 48u, word + 8u, q3);
  store(phase, row + 64u, word + 8u, q4);
  store(phase, row + 80u, word + 8u, q5);
  store(phase, row + 96u, word + 8u, q6);
  store(phase, row + 112u, word + 8u, q7);
}
