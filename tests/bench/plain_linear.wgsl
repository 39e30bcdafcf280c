// uses threads
// uses dot4
// uses epilogue
// The yardstick for linear.wgsl: one thread makes the four outputs of a word, a word of K a step.

struct Params {
  rows: u32,
  n_words: u32,
  k_steps: u32,
  tiles_n: u32,
  y_stride: u32,
  @align(16) epilogue: Epilogue,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn run(index: u32) {
  let row = index / params.n_words;
  let word = index % params.n_words;
  if (row >= params.rows) {
    return;
  }
  let k_words = params.k_steps * 4u;
  var acc = vec4<i32>();
  for (var k = 0u; k < k_words; k++) {
    let a = x[row * k_words + k];
    for (var lane = 0u; lane < 4u; lane++) {
      acc[lane] += dot4I8Packed(a, weight[(word * 4u + lane) * k_words + k]);
    }
  }
  y[row * params.y_stride + word] = requantized(acc - params.epilogue.x_zero_point * sums[word], word);
}
