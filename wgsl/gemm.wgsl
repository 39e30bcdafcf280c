// Matrix products with a tile in workgroup memory, and convolutions as such: rows of x are the pixels of y, gathered tap by
// tap. A thread makes 8 × 8 results, a workgroup 128 × 64, in steps of 64 bytes of K.
//
// Workgroup memory is [16 bytes of K][row] of vec4, and threads deal rows out in strides, so that neighbours read
// neighbouring vec4s. Columns lie there in the order (column % 4, column / 4): a thread owns four consecutive columns, which
// make a word of y, and its neighbours still read side by side. Accumulators are named: arrays cost several times as much.

override convolution: bool = false;
override partial_sums: bool = false;

struct Params {
  rows: u32,
  n_words: u32,
  tiles_n: u32,
  tiles: u32,
  slice_steps: u32,
  y_stride: u32,
  k_steps: u32,
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
  channel_steps: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> x_tile: array<vec4<u32>, 512>;
var<workgroup> w_tile: array<vec4<u32>, 256>;

// 16 bytes of K of a row; outside of a map x is its zero point.
fn load_x(row: u32, step: u32) -> vec4<u32> {
  if (step >= params.k_steps) {
    return vec4<u32>(0u);
  }
  if (!convolution) {
    return x[row * params.k_steps + step];
  }
  let tap = step / params.channel_steps;
  let pixel = row % (params.y_width * params.y_height);
  let h = i32(pixel / params.y_width * params.stride_height + tap / params.kernel_width * params.dilation_height)
    - i32(params.pad_height);
  let v = i32(pixel % params.y_width * params.stride_width + tap % params.kernel_width * params.dilation_width)
    - i32(params.pad_width);
  if (h < 0 || h >= i32(params.x_height) || v < 0 || v >= i32(params.x_width)) {
    return vec4<u32>(u32(params.x_zero_point & 255) * 0x01010101u);
  }
  let image = row / (params.y_width * params.y_height);
  return x[((image * params.x_height + u32(h)) * params.x_width + u32(v)) * params.channel_steps
    + step % params.channel_steps];
}

fn load_w(column: u32, step: u32) -> vec4<u32> {
  return select(vec4<u32>(0u), weight[min(column, 4u * params.n_words - 1u) * params.k_steps + step], step < params.k_steps);
}

// A result; of one slice of K, where wgsl/gemm_finish.wgsl adds them up.
fn store(slice: u32, row: u32, word: u32, acc: vec4<i32>) {
  if (row >= params.rows || word >= params.n_words) {
    return;
  }
  if (partial_sums) {
    let at = ((slice * params.rows + row) * params.n_words + word) * 4u;
    y[at] = bitcast<u32>(acc.x);
    y[at + 1u] = bitcast<u32>(acc.y);
    y[at + 2u] = bitcast<u32>(acc.z);
    y[at + 3u] = bitcast<u32>(acc.w);
  } else {
    y[row * params.y_stride + word] = requantize(
      acc - params.x_zero_point * sums[word], params.x_scale, channel[2u * word], channel[2u * word + 1u],
      params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
  }
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let workgroup = flat_workgroup(id, grid);
  let slice = workgroup / params.tiles;
  let tile = workgroup % params.tiles;
  let first_step = slice * params.slice_steps;
  let end = min(first_step + params.slice_steps, params.k_steps);
  let first_row = tile / params.tiles_n * 128u;
  let first_column = tile % params.tiles_n * 64u;
  let tx = local % 8u;
  let ty = local / 8u;
  let last = params.rows - 1u;

  // what this thread brings to the tile: four pieces of x, two of w
  let piece = local % 4u;
  let bring = local / 4u;
  let row_a = min(first_row + bring, last);
  let row_b = min(first_row + bring + 32u, last);
  let row_c = min(first_row + bring + 64u, last);
  let row_d = min(first_row + bring + 96u, last);
  let column = first_column + bring;
  let x_spot = piece * 128u + bring;
  let w_spot = piece * 64u + bring % 4u * 16u + bring / 4u;
  var ahead = first_step + piece;
  var next_a = load_x(row_a, ahead);
  var next_b = load_x(row_b, ahead);
  var next_c = load_x(row_c, ahead);
  var next_d = load_x(row_d, ahead);
  var next_w = load_w(column, ahead);
  var next_v = load_w(column + 32u, ahead);

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
  for (var k = first_step; k < end; k += 4u) {
    workgroupBarrier();
    x_tile[x_spot] = next_a;
    x_tile[x_spot + 32u] = next_b;
    x_tile[x_spot + 64u] = next_c;
    x_tile[x_spot + 96u] = next_d;
    w_tile[w_spot] = next_w;
    w_tile[w_spot + 8u] = next_v;
    workgroupBarrier();
    ahead = k + 4u + piece;
    next_a = load_x(row_a, ahead);
    next_b = load_x(row_b, ahead);
    next_c = load_x(row_c, ahead);
    next_d = load_x(row_d, ahead);
    next_w = load_w(column, ahead);
    next_v = load_w(column + 32u, ahead);
    for (var c = 0u; c < 4u; c++) {
      let at = c * 128u + ty;
      let a0 = x_tile[at];
      let a1 = x_tile[at + 16u];
      let a2 = x_tile[at + 32u];
      let a3 = x_tile[at + 48u];
      let a4 = x_tile[at + 64u];
      let a5 = x_tile[at + 80u];
      let a6 = x_tile[at + 96u];
      let a7 = x_tile[at + 112u];
      let w = c * 64u + tx;
      var w0 = w_tile[w];
      var w1 = w_tile[w + 16u];
      var w2 = w_tile[w + 32u];
      var w3 = w_tile[w + 48u];
      p0 = four16(p0, a0, w0, w1, w2, w3);
      p1 = four16(p1, a1, w0, w1, w2, w3);
      p2 = four16(p2, a2, w0, w1, w2, w3);
      p3 = four16(p3, a3, w0, w1, w2, w3);
      p4 = four16(p4, a4, w0, w1, w2, w3);
      p5 = four16(p5, a5, w0, w1, w2, w3);
      p6 = four16(p6, a6, w0, w1, w2, w3);
      p7 = four16(p7, a7, w0, w1, w2, w3);
      w0 = w_tile[w + 8u];
      w1 = w_tile[w + 24u];
      w2 = w_tile[w + 40u];
      w3 = w_tile[w + 56u];
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
  store(slice, row, word, p0);
  store(slice, row + 16u, word, p1);
  store(slice, row + 32u, word, p2);
  store(slice, row + 48u, word, p3);
  store(slice, row + 64u, word, p4);
  store(slice, row + 80u, word, p5);
  store(slice, row + 96u, word, p6);
  store(slice, row + 112u, word, p7);
  store(slice, row, word + 8u, q0);
  store(slice, row + 16u, word + 8u, q1);
  store(slice, row + 32u, word + 8u, q2);
  store(slice, row + 48u, word + 8u, q3);
  store(slice, row + 64u, word + 8u, q4);
  store(slice, row + 80u, word + 8u, q5);
  store(slice, row + 96u, word + 8u, q6);
  store(slice, row + 112u, word + 8u, q7);
}
