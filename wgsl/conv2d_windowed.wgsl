// uses threads
// uses dot4
// uses taps
// uses epilogue
// uses written
// int8 convolutions with groups or few channels, and transposed ones in gather form; one thread a word of four channels.
// Neighbouring threads take the words of one pixel, so that they agree on which taps to skip.

override shared_window: bool = true;

struct Params {
  words: u32,
  y_channel_words: u32,
  n_words: u32,
  x_channel_words: u32,
  window_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> first: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

fn four(a: vec4<u32>, w: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(dot4(a.x, w.x), dot4(a.y, w.y), dot4(a.z, w.z), dot4(a.w, w.w));
}

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  let at = place_in_y(pixel);
  let start = first[word];
  let taps = params.window.kernel_height * params.window.kernel_width;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let row = source_row(at.row, kh);
    if (row < 0) {
      continue;
    }
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let column = source_column(at.column, kw);
      if (column < 0) {
        continue;
      }
      let tap = kh * params.window.kernel_width + kw;
      let base = pixel_of_x(at.map, u32(row), u32(column)) * params.x_channel_words;
      var w = (word * taps + tap) * params.window_words;
      if (shared_window) {
        for (var i = 0u; i < params.window_words; i++) {
          acc += four(vec4<u32>(x[base + start.x + i]), weight[w]);
          w++;
        }
      } else {
        for (var i = 0u; i < params.window_words; i++) {
          let words = start + vec4<u32>(base + i);
          acc += four(vec4<u32>(x[words.x], x[words.y], x[words.z], x[words.w]), weight[w]);
          w++;
        }
      }
      acc -= params.epilogue.x_zero_point * tap_sums[tap * params.n_words + word];
    }
  }
  write(pixel * params.y_channel_words + word, requantized(acc, word));
}
