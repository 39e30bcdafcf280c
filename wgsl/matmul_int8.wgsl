// uses workgroups
// uses dot4
// uses int8
// Products of int8 matrices that a run computes. A workgroup makes 32 × 32 results in steps of 64 terms, a thread 4 × 4 of
// them: rows 8 apart, columns that make a word of y.
//
// Σ (a − a_zero)(b − b_zero) = Σ a·b − b_zero · Σ a − a_zero · Σ b + K · a_zero · b_zero; words hold zeros beyond K.

override transposed: bool = false;  // b is [n, k]

const INT8 = 0u;
const FLOAT32 = 1u;
const INT32 = 2u;
override y_is: u32 = INT8;  // the others are row-major

struct Params {
  batches: u32,
  tiles_m: u32,
  tiles_n: u32,
  m: u32,
  n: u32,
  k: u32,
  a_stride: u32,  // words of a row
  b_stride: u32,
  y_stride: u32,
  a_zero: i32,
  b_zero: i32,
  factor: f32,  // the scales of a and b, over that of y where y is int8
  y_zero_point: i32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

const ONES = 0x01010101u;

// [word of terms][row or column]; 33 apart, so that writing down a column of words meets every bank
var<workgroup> a_tile: array<u32, 528>;
var<workgroup> b_tile: array<u32, 528>;

// A word of a row with zeros for terms from K on; the row may end before.
fn within(word: u32, terms_before: u32) -> u32 {
  let left = params.k - min(terms_before, params.k);
  return select(word & ((1u << (8u * min(left, 3u))) - 1u), word, left >= 4u);
}

fn row_of_a(batch: u32, row: u32, word: u32) -> u32 {
  if (row >= params.m || 4u * word >= params.k) {
    return 0u;
  }
  return within(a[(batch * params.m + row) * params.a_stride + word], 4u * word);
}

fn column_of_b(batch: u32, column: u32, word: u32) -> u32 {
  if (column >= params.n || 4u * word >= params.k) {
    return 0u;
  }
  return within(b[(batch * params.n + column) * params.b_stride + word], 4u * word);
}

// Four columns of a term, those of a word of b.
fn term_of_b(batch: u32, term: u32, word: u32) -> u32 {
  if (term >= params.k || 4u * word >= params.n) {
    return 0u;
  }
  return b[(batch * params.k + term) * params.b_stride + word];
}

fn store(batch: u32, row: u32, column: u32, sums: vec4<i32>) {
  if (row >= params.m || column >= params.n) {
    return;
  }
  let v = vec4<f32>(sums) * params.factor;
  let line = (batch * params.m + row) * params.y_stride;
  if (y_is == INT8) {
    y[line + column / 4u] = pack(rounded(v, params.y_zero_point, -128.0, 127.0));
    return;
  }
  let words = select(bitcast<vec4<u32>>(v), bitcast<vec4<u32>>(sums), y_is == INT32);
  for (var lane = 0u; lane < min(4u, params.n - column); lane++) {
    y[line + column + lane] = words[lane];
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
  var acc = array<vec4<i32>, 4>();
  var rows = vec4<i32>();  // Σ a
  var columns = vec4<i32>();  // Σ b
  for (var first = 0u; 4u * first < params.k; first += 16u) {
    for (var i = 0u; i < 8u; i++) {
      let word = local % 16u;
      let line = local / 16u + 4u * i;
      a_tile[word * 33u + line] = row_of_a(batch, row + line, first + word);
      if (transposed) {
        b_tile[word * 33u + line] = column_of_b(batch, column + line, first + word);
      }
    }
    for (var i = 0u; !transposed && i < 2u; i++) {
      let word = ty + 8u * i;
      let term = 4u * (first + word);
      let at = column / 4u + tx;
      let terms = vec4<u32>(
        term_of_b(batch, term, at), term_of_b(batch, term + 1u, at), term_of_b(batch, term + 2u, at),
        term_of_b(batch, term + 3u, at));
      for (var lane = 0u; lane < 4u; lane++) {
        let bytes = ((terms >> vec4<u32>(8u * lane)) & vec4<u32>(255u)) << vec4<u32>(0u, 8u, 16u, 24u);
        b_tile[word * 33u + 4u * tx + lane] = bytes.x | bytes.y | bytes.z | bytes.w;
      }
    }
    workgroupBarrier();
    for (var word = 0u; word < 16u; word++) {
      let at = word * 33u + 4u * tx;
      let w = vec4<u32>(b_tile[at], b_tile[at + 1u], b_tile[at + 2u], b_tile[at + 3u]);
      for (var i = 0u; i < 4u; i++) {
        let x = a_tile[word * 33u + ty + 8u * i];
        acc[i] += vec4<i32>(dot4(x, w.x), dot4(x, w.y), dot4(x, w.z), dot4(x, w.w));
        if (params.b_zero != 0) {
          rows[i] += dot4(x, ONES);
        }
      }
      if (params.a_zero != 0) {
        columns += vec4<i32>(dot4(w.x, ONES), dot4(w.y, ONES), dot4(w.z, ONES), dot4(w.w, ONES));
      }
    }
    workgroupBarrier();
  }
  let rest = i32(params.k) * params.a_zero * params.b_zero - params.a_zero * columns;
  for (var i = 0u; i < 4u; i++) {
    store(batch, row + ty + 8u * i, column + 4u * tx, acc[i] - params.b_zero * rows[i] + rest);
  }
}
