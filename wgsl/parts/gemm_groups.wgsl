// uses workgroups_128
// uses dot4
// uses gemm_io
// What the matrix products with too few results for large tiles share: several groups of threads take parts of K of a tile
// side by side and add them up at the end. A thread makes 4 × 4 results.
//
// Each kernel has the size of its tiles as constants: not every browser's compiler takes workgroup arrays whose lengths
// overrides decide.
//
// Workgroup memory is [16 bytes of K][row] of vec4, first of x, then of the weights, whose columns lie in the order
// (column % 4, column / 4): neighbouring threads read neighbouring vec4s.

const side = tile_columns / 4u; // threads along a tile's columns
const group = side * tile_rows / 4u; // threads that share a part of K
const groups = 128u / group;
const pieces = 4u * groups; // of 16 bytes of K a step, four for each group
const x_pieces = pieces * tile_rows; // of a step; each thread brings up to four, of either side
const w_pieces = pieces * tile_columns;
const piece_stride = 128u / pieces; // between the rows (or columns) that a thread brings the same 16 bytes of K of

var<workgroup> tile: array<vec4<u32>, x_pieces + w_pieces>;

fn row_of(number: u32, phase: u32, first: u32) -> vec3<i32> {
  return origin(phase, min(first + number * piece_stride, params.rows - 1u));
}

fn column_of(number: u32, phase: u32, first: u32) -> u32 {
  return weight_row(phase, first + number * piece_stride);
}

fn bring_x(number: u32, phase: u32, row: vec3<i32>, away: vec3<i32>) -> vec4<u32> {
  if (number * 128u >= x_pieces) {
    return vec4<u32>();
  }
  return load_x(phase, row, away);
}

fn bring_w(number: u32, phase: u32, column: u32, step: u32) -> vec4<u32> {
  if (number * 128u >= w_pieces) {
    return vec4<u32>();
  }
  return load_weight(phase, column, step);
}

fn put_x(number: u32, local: u32, words: vec4<u32>) {
  if (number * 128u < x_pieces) {
    tile[local % pieces * tile_rows + local / pieces + number * piece_stride] = words;
  }
}

fn put_w(number: u32, local: u32, words: vec4<u32>) {
  if (number * 128u < w_pieces) {
    let column = local / pieces + number * piece_stride;
    tile[x_pieces + local % pieces * tile_columns + column % 4u * side + column / 4u] = words;
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

fn run(workgroup: u32, local: u32) {
  if (workgroup >= params.tiles * phases()) {
    return;
  }
  let phase = workgroup / params.tiles;
  let first_row = workgroup % params.tiles / params.tiles_n * tile_rows;
  let first_column = workgroup % params.tiles % params.tiles_n * tile_columns;
  let tx = local % side;
  let ty = local % group / side;
  let own = local / group;
  let row_stride = tile_rows / 4u;

  let k = local % pieces; // of this thread's pieces
  let row = first_row + local / pieces;
  let column = first_column + local / pieces;
  let row_a = row_of(0u, phase, row);
  let row_b = row_of(1u, phase, row);
  let row_c = row_of(2u, phase, row);
  let row_d = row_of(3u, phase, row);
  let column_w = column_of(0u, phase, column);
  let column_x = column_of(1u, phase, column);
  let column_y = column_of(2u, phase, column);
  let column_z = column_of(3u, phase, column);
  var away = offset(phase, k);
  var next_a = bring_x(0u, phase, row_a, away);
  var next_b = bring_x(1u, phase, row_b, away);
  var next_c = bring_x(2u, phase, row_c, away);
  var next_d = bring_x(3u, phase, row_d, away);
  var next_w = bring_w(0u, phase, column_w, k);
  var next_x = bring_w(1u, phase, column_x, k);
  var next_y = bring_w(2u, phase, column_y, k);
  var next_z = bring_w(3u, phase, column_z, k);

  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var step = 0u; step < steps(phase); step += pieces) {
    workgroupBarrier();
    put_x(0u, local, next_a);
    put_x(1u, local, next_b);
    put_x(2u, local, next_c);
    put_x(3u, local, next_d);
    put_w(0u, local, next_w);
    put_w(1u, local, next_x);
    put_w(2u, local, next_y);
    put_w(3u, local, next_z);
    workgroupBarrier();
    away = offset(phase, step + pieces + k);
    next_a = bring_x(0u, phase, row_a, away);
    next_b = bring_x(1u, phase, row_b, away);
    next_c = bring_x(2u, phase, row_c, away);
    next_d = bring_x(3u, phase, row_d, away);
    next_w = bring_w(0u, phase, column_w, step + pieces + k);
    next_x = bring_w(1u, phase, column_x, step + pieces + k);
    next_y = bring_w(2u, phase, column_y, step + pieces + k);
    next_z = bring_w(3u, phase, column_z, step + pieces + k);
    for (var c = 4u * own; c < 4u * own + 4u; c++) {
      let at = c * tile_rows + ty;
      let w = x_pieces + c * tile_columns + tx;
      let w0 = tile[w];
      let w1 = tile[w + side];
      let w2 = tile[w + 2u * side];
      let w3 = tile[w + 3u * side];
      acc0 = four16(acc0, tile[at], w0, w1, w2, w3);
      acc1 = four16(acc1, tile[at + row_stride], w0, w1, w2, w3);
      acc2 = four16(acc2, tile[at + 2u * row_stride], w0, w1, w2, w3);
      acc3 = four16(acc3, tile[at + 3u * row_stride], w0, w1, w2, w3);
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
    let y_row = first_row + ty;
    let word = first_column / 4u + tx;
    store(phase, y_row, word, acc0 + others(local));
    store(phase, y_row + row_stride, word, acc1 + others(local + group));
    store(phase, y_row + 2u * row_stride, word, acc2 + others(local + 2u * group));
    store(phase, y_row + 3u * row_stride, word, acc3 + others(local + 3u * group));
  }
}
