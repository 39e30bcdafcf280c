// uses gemm_io
// Matrix products with too few results to fill a GPU with large tiles: tiles of 16 or 32 rows and columns, for which several
// groups of threads take parts of K side by side and add them up at the end. A thread makes 4 × 4 results.
//
// Workgroup memory is [16 bytes of K][row] of vec4, first of x, then of the weights, whose columns lie in the order
// (column % 4, column / 4): neighbouring threads read neighbouring vec4s.

override tile_rows: u32 = 32u;
override tile_columns: u32 = 32u;
override side: u32 = tile_columns / 4u; // threads along a tile's columns
override group: u32 = side * tile_rows / 4u; // threads that share a part of K
override groups: u32 = 128u / group;
override pieces: u32 = 4u * groups; // of 16 bytes of K a step, four for each group
override x_pieces: u32 = pieces * tile_rows; // of a step; each thread brings up to four, of either side
override w_pieces: u32 = pieces * tile_columns;

var<workgroup> tile: array<vec4<u32>, x_pieces + w_pieces>;

fn bring_x(piece: u32, phase: u32, first_row: u32, step: u32) -> vec4<u32> {
  if (piece >= x_pieces) {
    return vec4<u32>();
  }
  return load_x(phase, min(first_row + piece / pieces, params.rows - 1u), step + piece % pieces);
}

fn bring_w(piece: u32, phase: u32, first_column: u32, step: u32) -> vec4<u32> {
  if (piece >= w_pieces) {
    return vec4<u32>();
  }
  return load_weight(phase, first_column + piece / pieces, step + piece % pieces);
}

fn put_x(piece: u32, words: vec4<u32>) {
  if (piece < x_pieces) {
    tile[piece % pieces * tile_rows + piece / pieces] = words;
  }
}

fn put_w(piece: u32, words: vec4<u32>) {
  if (piece < w_pieces) {
    let column = piece / pieces;
    tile[x_pieces + piece % pieces * tile_columns + column % 4u * side + column / 4u] = words;
  }
}

// What the other groups left of a result.
fn others(index: u32) -> vec4<i32> {
  var sum = vec4<i32>();
  for (var g = 0u; g < groups - 1u; g++) {
    sum += bitcast<vec4<i32>>(tile[g * 4u * group + index]);
  }
  return sum;
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let workgroup = flat_workgroup(id, grid);
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  let first_row = workgroup % params.tiles / params.tiles_n * tile_rows;
  let first_column = workgroup % params.tiles % params.tiles_n * tile_columns;
  let tx = local % side;
  let ty = local % group / side;
  let own = local / group;
  let rows_apart = tile_rows / 4u;

  var next_a = bring_x(local, phase, first_row, 0u);
  var next_b = bring_x(local + 128u, phase, first_row, 0u);
  var next_c = bring_x(local + 256u, phase, first_row, 0u);
  var next_d = bring_x(local + 384u, phase, first_row, 0u);
  var next_w = bring_w(local, phase, first_column, 0u);
  var next_x = bring_w(local + 128u, phase, first_column, 0u);
  var next_y = bring_w(local + 256u, phase, first_column, 0u);
  var next_z = bring_w(local + 384u, phase, first_column, 0u);

  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var k = 0u; k < steps(phase); k += pieces) {
    workgroupBarrier();
    put_x(local, next_a);
    put_x(local + 128u, next_b);
    put_x(local + 256u, next_c);
    put_x(local + 384u, next_d);
    put_w(local, next_w);
    put_w(local + 128u, next_x);
    put_w(local + 256u, next_y);
    put_w(local + 384u, next_z);
    workgroupBarrier();
    next_a = bring_x(local, phase, first_row, k + pieces);
    next_b = bring_x(local + 128u, phase, first_row, k + pieces);
    next_c = bring_x(local + 256u, phase, first_row, k + pieces);
    next_d = bring_x(local + 384u, phase, first_row, k + pieces);
    next_w = bring_w(local, phase, first_column, k + pieces);
    next_x = bring_w(local + 128u, phase, first_column, k + pieces);
    next_y = bring_w(local + 256u, phase, first_column, k + pieces);
    next_z = bring_w(local + 384u, phase, first_column, k + pieces);
    for (var c = 4u * own; c < 4u * own + 4u; c++) {
      let at = c * tile_rows + ty;
      let w = x_pieces + c * tile_columns + tx;
      let w0 = tile[w];
      let w1 = tile[w + side];
      let w2 = tile[w + 2u * side];
      let w3 = tile[w + 3u * side];
      acc0 = four16(acc0, tile[at], w0, w1, w2, w3);
      acc1 = four16(acc1, tile[at + rows_apart], w0, w1, w2, w3);
      acc2 = four16(acc2, tile[at + 2u * rows_apart], w0, w1, w2, w3);
      acc3 = four16(acc3, tile[at + 3u * rows_apart], w0, w1, w2, w3);
    }
  }

  workgroupBarrier();
  if (own > 0u) {
    let at = (own - 1u) * 4u * group + local % group;
    tile[at] = bitcast<vec4<u32>>(acc0);
    tile[at + group] = bitcast<vec4<u32>>(acc1);
    tile[at + 2u * group] = bitcast<vec4<u32>>(acc2);
    tile[at + 3u * group] = bitcast<vec4<u32>>(acc3);
  }
  workgroupBarrier();
  if (own == 0u) {
    let row = first_row + ty;
    let word = first_column / 4u + tx;
    store(phase, row, word, acc0 + others(local));
    store(phase, row + rows_apart, word, acc1 + others(local + group));
    store(phase, row + 2u * rows_apart, word, acc2 + others(local + 2u * group));
    store(phase, row + 3u * rows_apart, word, acc3 + others(local + 3u * group));
  }
}
