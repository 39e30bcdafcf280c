// uses workgroups
// uses product
// A workgroup makes 32 × 32 results from tiles of 16 terms, a thread 4 × 4 of them: rows and columns 8 apart, so that
// neighbouring threads read and write neighbouring words.

override transposed: bool = false;  // w is [n, k]

struct Params {
  batches: u32,
  tiles_m: u32,
  tiles_n: u32,
  @align(16) product: Product,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> addend: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

// [term][row or column]; 33 apart, so that writing down a column of terms meets every bank
var<workgroup> x_tile: array<f32, 528>;
var<workgroup> w_tile: array<f32, 528>;

fn store(batch: u32, row: u32, column: u32, acc: vec4<f32>) {
  if (row >= params.product.m) {
    return;
  }
  for (var j = 0u; j < 4u; j++) {
    let n = column + 8u * j;
    if (n < params.product.n) {
      y[(batch * params.product.m + row) * params.product.n + n] = finished(acc[j], row, n);
    }
  }
}

fn run(tile: u32, local: u32) {
  let batch = tile / params.tiles_n / params.tiles_m;
  let row = tile / params.tiles_n % params.tiles_m * 32u;
  let column = tile % params.tiles_n * 32u;
  if (batch >= params.batches) {
    return;
  }
  let tx = local % 8u;
  let ty = local / 8u;
  var acc0 = vec4<f32>();
  var acc1 = vec4<f32>();
  var acc2 = vec4<f32>();
  var acc3 = vec4<f32>();
  for (var k = 0u; k < params.product.k; k += 16u) {
    for (var i = 0u; i < 8u; i++) {
      let term = local % 16u;
      let line = local / 16u + 4u * i;
      let inside = row + line < params.product.m && k + term < params.product.k;
      x_tile[term * 33u + line] = select(0.0, x[(batch * params.product.m + row + line) * params.product.k + k + term], inside);
    }
    for (var i = 0u; i < 8u; i++) {
      let term = select(local / 32u + 2u * i, local % 16u, transposed);
      let line = select(local % 32u, local / 16u + 4u * i, transposed);
      let inside = column + line < params.product.n && k + term < params.product.k;
      let at = batch * params.product.k * params.product.n + (k + term) * params.product.w_k_stride + (column + line) * params.product.w_n_stride;
      w_tile[term * 33u + line] = select(0.0, w[at], inside);
    }
    workgroupBarrier();
    for (var term = 0u; term < 16u; term++) {
      let a = term * 33u + ty;
      let b = term * 33u + tx;
      let v = vec4<f32>(w_tile[b], w_tile[b + 8u], w_tile[b + 16u], w_tile[b + 24u]);
      acc0 += x_tile[a] * v;
      acc1 += x_tile[a + 8u] * v;
      acc2 += x_tile[a + 16u] * v;
      acc3 += x_tile[a + 24u] * v;
    }
    workgroupBarrier();
  }
  store(batch, row + ty, column + tx, acc0);
  store(batch, row + ty + 8u, column + tx, acc1);
  store(batch, row + ty + 16u, column + tx, acc2);
  store(batch, row + ty + 24u, column + tx, acc3);
}
