// uses workgroups
// uses widened
// uses result
// An int8 linear layer on a CPU that emulates a GPU: a workgroup makes 32 rows × 32 columns, a thread 4 × 4 of them, 16 int8 of K
// a step. Its products are floats, moved to integers before their sums need more than 24 bits: every 64 steps.

struct Params {
  rows: u32,
  n_words: u32,
  y_stride: u32,
  k_steps: u32,
  tiles_n: u32,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn store(row: u32, word: u32, acc: vec4<i32>) {
  if (row < params.rows) {
    finish(row, word, acc, sums[word]);
  }
}

fn run(tile: u32, local: u32) {
  let row = tile / params.tiles_n * 32u + local / 8u * 4u;
  let word = tile % params.tiles_n * 8u + local % 8u;
  if (row >= params.rows || word >= params.n_words) {
    return;
  }
  let last = params.rows - 1u;
  let k_steps = params.k_steps;
  let x0 = row * k_steps;
  let x1 = min(row + 1u, last) * k_steps;
  let x2 = min(row + 2u, last) * k_steps;
  let x3 = min(row + 3u, last) * k_steps;
  let w = word * 4u * k_steps;
  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var k = 0u; k < k_steps; ) {
    var products = mat4x4<f32>();
    for (let end = min(k + 64u, k_steps); k < end; k++) {
      let w0 = weight[w + k];
      let w1 = weight[w + k_steps + k];
      let w2 = weight[w + 2u * k_steps + k];
      let w3 = weight[w + 3u * k_steps + k];
      let a0 = x[x0 + k];
      let a1 = x[x1 + k];
      let a2 = x[x2 + k];
      let a3 = x[x3 + k];
      products += products16(a0, a1, a2, a3, w0, w1, w2, w3);
    }
    acc0 += narrowed(products[0]);
    acc1 += narrowed(products[1]);
    acc2 += narrowed(products[2]);
    acc3 += narrowed(products[3]);
  }
  store(row, word, acc0);
  store(row + 1u, word, acc1);
  store(row + 2u, word, acc2);
  store(row + 3u, word, acc3);
}
