// uses threads
// uses dot4
// uses window
// uses epilogue
// uses written
// An int8 depthwise convolution of channels-last maps; one thread a word of four channels. The weights of a tap lie in
// words of four channels as well.

struct Params {
  words: u32,
  n_words: u32,
  y_channel_words: u32,
  x_channel_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  let at = place_in_y(pixel);
  let top = first_row(at.row);
  let left = first_column(at.column);
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let row = top + tap_row(kh);
    if (!is_row(row)) {
      continue;
    }
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let column = left + tap_column(kw);
      if (!is_column(column)) {
        continue;
      }
      let a = x[pixel_of_x(at.map, u32(row), u32(column)) * params.x_channel_words + word];
      let w = weight[(kh * params.window.kernel_width + kw) * params.n_words + word];
      acc += (unpack(a) - params.epilogue.x_zero_point) * unpack(w);
    }
  }
  write(pixel * params.y_channel_words + word, requantized(acc, word));
}
