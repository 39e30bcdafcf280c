// q8ta_linear: a workgroup makes 32 rows × 32 columns, a thread 4 × 4 of them, 16 int8 of K a step.
// Accumulators are named vectors: arrays indexed in loops cost several times the arithmetic.

struct Params {
  rows: u32,
  n_words: u32,
  y_stride: u32,
  k_steps: u32,
  tiles_n: u32,
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn store(row: u32, word: u32, acc: vec4<i32>) {
  if (row < params.rows) {
    let corrected = acc - params.x_zero_point * sums[word];
    y[row * params.y_stride + word] = requantize(
      corrected, params.x_scale, channel[2u * word], channel[2u * word + 1u],
      params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
  }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let tile = flat_workgroup(id, grid);
  let row = tile / params.tiles_n * 32u + local / 8u * 4u;
  let word = tile % params.tiles_n * 8u + local % 8u;
  if (row >= params.rows || word >= params.n_words) {
    return;
  }
  let last = params.rows - 1u;
  var x0 = row * params.k_steps;
  var x1 = min(row + 1u, last) * params.k_steps;
  var x2 = min(row + 2u, last) * params.k_steps;
  var x3 = min(row + 3u, last) * params.k_steps;
  var w = word * 4u * params.k_steps;
  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var k = 0u; k < params.k_steps; k++) {
    let w0 = weight[w];
    let w1 = weight[w + params.k_steps];
    let w2 = weight[w + 2u * params.k_steps];
    let w3 = weight[w + 3u * params.k_steps];
    let a0 = x[x0];
    acc0 = four16(acc0, a0, w0, w1, w2, w3);
    let a1 = x[x1];
    acc1 = four16(acc1, a1, w0, w1, w2, w3);
    let a2 = x[x2];
    acc2 = four16(acc2, a2, w0, w1, w2, w3);
    let a3 = x[x3];
    acc3 = four16(acc3, a3, w0, w1, w2, w3);
    w++;
    x0++;
    x1++;
    x2++;
    x3++;
  }
  store(row, word, acc0);
  store(row + 1u, word, acc1);
  store(row + 2u, word, acc2);
  store(row + 3u, word, acc3);
}
