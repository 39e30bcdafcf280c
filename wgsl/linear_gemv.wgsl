// q8ta_linear of one row: `lanes` threads share a word of four outputs, each taking every lanes-th step of K.

override lanes: u32 = 1u;

struct Params {
  n_words: u32,
  k_steps: u32,
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

var<workgroup> partial: array<vec4<i32>, 64>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let word = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  var acc = vec4<i32>();
  if (word < params.n_words) {
    for (var k = local % lanes; k < params.k_steps; k += lanes) {
      let a = x[k];
      let w = word * 4u * params.k_steps + k;
      acc = four16(acc, a, weight[w], weight[w + params.k_steps], weight[w + 2u * params.k_steps], weight[w + 3u * params.k_steps]);
    }
  }
  partial[local] = acc;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partial[local] += partial[local + half];
    }
  }
  if (local % lanes == 0u && word < params.n_words) {
    y[word] = requantize(
      partial[local] - params.x_zero_point * sums[word], params.x_scale, channel[2u * word], channel[2u * word + 1u],
      params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
  }
}
