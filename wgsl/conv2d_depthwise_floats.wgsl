// uses threads
// uses widened
// uses window_of_four
// uses epilogue
// uses written
// An int8 depthwise convolution on a CPU that emulates a GPU: a thread makes four pixels × four channels, their products are floats.
// Taps outside of the map count as the zero point.

struct Params {
  pixels: u32,
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

fn store(pixel: u32, word: u32, sums: vec4<f32>) {
  if (pixel < params.pixels) {
    write(pixel * params.y_channel_words + word, requantized(narrowed(sums), word));
  }
}

fn run(index: u32) {
  let word = index % params.n_words;
  let pixel = index / params.n_words * 4u;
  if (pixel >= params.pixels) {
    return;
  }
  let windows = four_windows(pixel);
  let nothing = pack(vec4<i32>(params.epilogue.x_zero_point));
  let zero = widened(nothing);
  var sums = mat4x4<f32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let rows = windows.top + tap_row(kh);
    let in_height = are_rows(rows);
    let lines = lines_of_x(windows.map, rows);
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let columns = windows.left + tap_column(kw);
      let inside = in_height & are_columns(columns);
      let at = (lines + vec4<u32>(columns)) * params.x_channel_words + word;
      let w = widened(weight[(kh * params.window.kernel_width + kw) * params.n_words + word]);
      sums[0] += (widened(select(nothing, x[at.x], inside.x)) - zero) * w;
      sums[1] += (widened(select(nothing, x[at.y], inside.y)) - zero) * w;
      sums[2] += (widened(select(nothing, x[at.z], inside.z)) - zero) * w;
      sums[3] += (widened(select(nothing, x[at.w], inside.w)) - zero) * w;
    }
  }
  store(pixel, word, sums[0]);
  store(pixel + 1u, word, sums[1]);
  store(pixel + 2u, word, sums[2]);
  store(pixel + 3u, word, sums[3]);
}
