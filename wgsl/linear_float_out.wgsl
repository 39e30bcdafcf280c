// uses threads
// uses dot4
// A linear layer with int8 activations and weights, and float32 results; one thread four columns of a row.

struct Params {
  rows: u32,
  n: u32,
  n_words: u32,
  k_steps: u32,
  x_zero_point: i32,
  x_scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

fn run(index: u32) {
  let row = index / params.n_words;
  let word = index % params.n_words;
  if (row >= params.rows) {
    return;
  }
  var acc = vec4<i32>();
  for (var k = 0u; k < params.k_steps; k++) {
    let a = x[row * params.k_steps + k];
    let w = word * 4u * params.k_steps + k;
    acc = four16(acc, a, weight[w], weight[w + params.k_steps], weight[w + 2u * params.k_steps], weight[w + 3u * params.k_steps]);
  }
  acc -= params.x_zero_point * sums[word];
  let v = vec4<f32>(acc) * params.x_scale * channel[2u * word] + channel[2u * word + 1u];
  for (var lane = 0u; lane < min(4u, params.n - 4u * word); lane++) {
    y[row * params.n + 4u * word + lane] = v[lane];
  }
}
