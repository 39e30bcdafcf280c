// uses threads
// uses dot4
// float32 activations times int8 weights; one thread four columns of a row.

struct Params {
  rows: u32,
  n: u32,
  n_words: u32,
  k: u32,
  k_words: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn run(index: u32) {
  let row = index / params.n_words;
  let word = index % params.n_words;
  if (row >= params.rows) {
    return;
  }
  var acc = vec4<f32>();
  for (var k = 0u; k < params.k; k += 4u) {
    let w = word * 4u * params.k_words + k / 4u;
    let w0 = vec4<f32>(unpack(weight[w]));
    let w1 = vec4<f32>(unpack(weight[w + params.k_words]));
    let w2 = vec4<f32>(unpack(weight[w + 2u * params.k_words]));
    let w3 = vec4<f32>(unpack(weight[w + 3u * params.k_words]));
    for (var i = 0u; i < min(4u, params.k - k); i++) {
      acc += x[row * params.k + k + i] * vec4<f32>(w0[i], w1[i], w2[i], w3[i]);
    }
  }
  let v = acc * channel[2u * word] + channel[2u * word + 1u];
  for (var lane = 0u; lane < min(4u, params.n - 4u * word); lane++) {
    y[row * params.n + 4u * word + lane] = v[lane];
  }
}
