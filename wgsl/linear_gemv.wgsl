// uses lanes
// uses tree
// uses dot4
// uses result
// uses steps_of_x
// An int8 linear layer of one row: `lanes` threads share a word of four results, each taking every lanes-th step of K.

struct Params {
  n_words: u32,
  k_steps: u32,
  y_stride: u32,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
  @align(16) read: Read,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

alias Partial = vec4<i32>;

fn combined(a: Partial, b: Partial) -> Partial {
  return a + b;
}

fn run(word: u32, local: u32) {
  var acc = vec4<i32>();
  if (word < params.n_words) {
    for (var k = local % lanes; k < params.k_steps; k += lanes) {
      let a = x_step(k);
      let w = word * 4u * params.k_steps + k;
      acc = four16(acc, a, weight[w], weight[w + params.k_steps], weight[w + 2u * params.k_steps], weight[w + 3u * params.k_steps]);
    }
  }
  let sum = reduced(acc, local);
  if (local % lanes == 0u && word < params.n_words) {
    finish(0u, word, sum, sums[word]);
  }
}
