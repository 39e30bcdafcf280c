enable chromium_experimental_subgroup_matrix;
enable subgroups;
diagnostic(off, chromium.subgroup_matrix_uniformity);

// uses gemm_io
// Large matrix products by int8 subgroup matrices: a workgroup makes 128 × 128 results, in steps of 64 bytes of K.
//
// Four subgroups of 32 lanes have a quarter of the tile each. Workgroup memory holds both halves of x's rows, then of the
// weights', as fragments of 16 rows × 32 bytes, a row every 12 words: neighbouring rows lie in different banks. Each half is
// an array of its own, so that all offsets in it are constants; Chromium wraps loads at other offsets in a branch. Words of
// a piece lie 4 apart, in the same order on both sides, which keeps stores out of each other's banks as well.

// [half of x, half of x, half of the weights, half of the weights], and at the end the results of a subgroup
var<workgroup> tile: array<array<i32, 1536>, 4>;

fn put(part: u32, row: u32, piece: u32, words: vec4<u32>) {
  let at = row / 16u * 384u + row % 16u * 12u + piece;
  tile[part][at] = i32(words[0]);
  tile[part][at + 4u] = i32(words[1]);
  tile[part][at + 192u] = i32(words[2]);
  tile[part][at + 196u] = i32(words[3]);
}

fn result(subgroup: u32, word: u32) -> vec4<i32> {
  return vec4<i32>(
    tile[subgroup][4u * word], tile[subgroup][4u * word + 1u], tile[subgroup][4u * word + 2u],
    tile[subgroup][4u * word + 3u]);
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32
) {
  let workgroup = flat_workgroup(id, grid);
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  // along bands of four rows of tiles, so that workgroups of a time share more of what they read
  let tile_number = workgroup % params.tiles;
  let band = tile_number / (4u * params.tiles_n);
  let band_rows = min(4u, params.tiles / params.tiles_n - 4u * band);
  let in_band = tile_number - band * 4u * params.tiles_n;
  let first_row = (4u * band + in_band % band_rows) * 128u;
  let first_column = in_band / band_rows * 128u;
  let upper = subgroup / 2u;
  let left = subgroup % 2u;

  // what this thread brings to the tile: rows 32 apart, 16 bytes of K of each
  let piece = local % 4u;
  let bring = local / 4u;
  let last = params.rows - 1u;
  let row_a = origin(phase, min(first_row + bring, last));
  let row_b = origin(phase, min(first_row + bring + 32u, last));
  let row_c = origin(phase, min(first_row + bring + 64u, last));
  let row_d = origin(phase, min(first_row + bring + 96u, last));
  let column_w = weight_row(phase, first_column + bring);
  let column_x = weight_row(phase, first_column + bring + 32u);
  let column_y = weight_row(phase, first_column + bring + 64u);
  let column_z = weight_row(phase, first_column + bring + 96u);
  var away = offset(phase, piece);
  var next_a = load_x(phase, row_a, away);
  var next_b = load_x(phase, row_b, away);
  var next_c = load_x(phase, row_c, away);
  var next_d = load_x(phase, row_d, away);
  var next_w = load_weight(phase, column_w, piece);
  var next_x = load_weight(phase, column_x, piece);
  var next_y = load_weight(phase, column_y, piece);
  var next_z = load_weight(phase, column_z, piece);

  var acc00 = subgroup_matrix_result<i32, 16, 16>();
  var acc01 = subgroup_matrix_result<i32, 16, 16>();
  var acc02 = subgroup_matrix_result<i32, 16, 16>();
  var acc03 = subgroup_matrix_result<i32, 16, 16>();
  var acc10 = subgroup_matrix_result<i32, 16, 16>();
  var acc11 = subgroup_matrix_result<i32, 16, 16>();
  var acc12 = subgroup_matrix_result<i32, 16, 16>();
  var acc13 = subgroup_matrix_result<i32, 16, 16>();
  var acc20 = subgroup_matrix_result<i32, 16, 16>();
  var acc21 = subgroup_matrix_result<i32, 16, 16>();
  var acc22 = subgroup_matrix_result<i32, 16, 16>();
  var acc23 = subgroup_matrix_result<i32, 16, 16>();
  var acc30 = subgroup_matrix_result<i32, 16, 16>();
  var acc31 = subgroup_matrix_result<i32, 16, 16>();
  var acc32 = subgroup_matrix_result<i32, 16, 16>();
  var acc33 = subgroup_matrix_result<i32, 16, 16>();
  for (var k = 0u; k < steps(phase); k += 4u) {
    workgroupBarrier();
    put(0u, bring, piece, next_a);
    put(0u, bring + 32u, piece, next_b);
    put(1u, bring, piece, next_c);
    put(1u, bring + 32u, piece, next_d);
    put(2u, bring, piece, next_w);
    put(2u, bring + 32u, piece, next_x);
    put(3u, bring, piece, next_y);
    put(3u, bring + 32u, piece, next_z);
    workgroupBarrier();
    away = offset(phase, k + 4u + piece);
    next_a = load_x(phase, row_a, away);
    next_b = load_x(phase, row_b, away);
    next_c = load_x(phase, row_c, away);
    next_d = load_x(phase, row_d, away);
    next_w = load_weight(phase, column_w, k + 4u + piece);
    next_x = load_weight(phase, column_x, k + 4u + piece);
    next_y = load_weight(phase, column_y, k + 4u + piece);
    next_z = load_weight(phase, column_z, k + 4u + piece);
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 0u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 1536u, true, 48u);
      let b2 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 3072u, true, 48u);
      let b3 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 4608u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 0u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 1536u, false, 48u);
      let a2 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 3072u, false, 48u);
      let a3 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 4608u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc02 = subgroupMatrixMultiplyAccumulate(a0, b2, acc02);
      acc03 = subgroupMatrixMultiplyAccumulate(a0, b3, acc03);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
      acc12 = subgroupMatrixMultiplyAccumulate(a1, b2, acc12);
      acc13 = subgroupMatrixMultiplyAccumulate(a1, b3, acc13);
      acc20 = subgroupMatrixMultiplyAccumulate(a2, b0, acc20);
      acc21 = subgroupMatrixMultiplyAccumulate(a2, b1, acc21);
      acc22 = subgroupMatrixMultiplyAccumulate(a2, b2, acc22);
      acc23 = subgroupMatrixMultiplyAccumulate(a2, b3, acc23);
      acc30 = subgroupMatrixMultiplyAccumulate(a3, b0, acc30);
      acc31 = subgroupMatrixMultiplyAccumulate(a3, b1, acc31);
      acc32 = subgroupMatrixMultiplyAccumulate(a3, b2, acc32);
      acc33 = subgroupMatrixMultiplyAccumulate(a3, b3, acc33);
    }
    {
      let b0 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 768u, true, 48u);
      let b1 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 2304u, true, 48u);
      let b2 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 3840u, true, 48u);
      let b3 = subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&tile[2u + left], 5376u, true, 48u);
      let a0 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 768u, false, 48u);
      let a1 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 2304u, false, 48u);
      let a2 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 3840u, false, 48u);
      let a3 = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&tile[upper], 5376u, false, 48u);
      acc00 = subgroupMatrixMultiplyAccumulate(a0, b0, acc00);
      acc01 = subgroupMatrixMultiplyAccumulate(a0, b1, acc01);
      acc02 = subgroupMatrixMultiplyAccumulate(a0, b2, acc02);
      acc03 = subgroupMatrixMultiplyAccumulate(a0, b3, acc03);
      acc10 = subgroupMatrixMultiplyAccumulate(a1, b0, acc10);
      acc11 = subgroupMatrixMultiplyAccumulate(a1, b1, acc11);
      acc12 = subgroupMatrixMultiplyAccumulate(a1, b2, acc12);
      acc13 = subgroupMatrixMultiplyAccumulate(a1, b3, acc13);
      acc20 = subgroupMatrixMultiplyAccumulate(a2, b0, acc20);
      acc21 = subgroupMatrixMultiplyAccumulate(a2, b1, acc21);
      acc22 = subgroupMatrixMultiplyAccumulate(a2, b2, acc22);
      acc23 = subgroupMatrixMultiplyAccumulate(a2, b3, acc23);
      acc30 = subgroupMatrixMultiplyAccumulate(a3, b0, acc30);
      acc31 = subgroupMatrixMultiplyAccumulate(a3, b1, acc31);
      acc32 = subgroupMatrixMultiplyAccumulate(a3, b2, acc32);
      acc33 = subgroupMatrixMultiplyAccumulate(a3, b3, acc33);
    }
  }

  // 16 rows of each subgroup at a time
  let row = first_row + upper * 64u + lane / 16u;
  let word = first_column / 4u + left * 16u + lane % 16u;
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc00, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc01, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 32u, acc02, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 48u, acc03, false, 64u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 2u) {
    store(phase, row + r, word, result(subgroup, r * 16u + lane));
  }
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc10, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc11, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 32u, acc12, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 48u, acc13, false, 64u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 2u) {
    store(phase, row + 16u + r, word, result(subgroup, r * 16u + lane));
  }
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc20, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc21, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 32u, acc22, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 48u, acc23, false, 64u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 2u) {
    store(phase, row + 32u + r, word, result(subgroup, r * 16u + lane));
  }
  workgroupBarrier();
  subgroupMatrixStore(&tile[subgroup], 0u, acc30, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 16u, acc31, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 32u, acc32, false, 64u);
  subgroupMatrixStore(&tile[subgroup], 48u, acc33, false, 64u);
  workgroupBarrier();
  for (var r = 0u; r < 16u; r += 2u) {
    store(phase, row + 48u + r, word, result(subgroup, r * 16u + lane));
  }
}
