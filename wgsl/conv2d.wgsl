// uses threads
// uses widened
// uses window_of_four
// uses epilogue
// uses written
// An int8 convolution of channels-last maps whose pixels are whole vec4 of words; a thread makes four pixels × four channels.
// For CPUs that emulate a GPU: products are floats, whose sums move to integers after each tap, and each 1,024 channels.
// Taps outside of the map count as the zero point: their products and their share of the correction are left out.

override long_sums: bool = false; // a tap has more channels than that; a loop around the loop would cost more

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

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn store(pixel: u32, word: u32, acc: vec4<i32>) {
  if (pixel < params.pixels) {
    write(pixel * params.y_channel_words + word, requantized(acc, word));
  }
}

fn run(index: u32) {
  let word = index % params.n_words;
  let pixel = index / params.n_words * 4u;
  if (pixel >= params.pixels) {
    return;
  }
  let windows = four_windows(pixel);
  let steps = params.x_channel_words / 4u;
  let taps = params.window.kernel_height * params.window.kernel_width;
  let row = taps * steps;
  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let rows = windows.top + tap_row(kh);
    let in_height = are_rows(rows);
    let lines = lines_of_x(windows.map, rows);
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let columns = windows.left + tap_column(kw);
      let inside = in_height & are_columns(columns);
      if (!any(inside)) {
        continue;
      }
      let tap = kh * params.window.kernel_width + kw;
      let zero_point = select(vec4<i32>(0), vec4<i32>(params.epilogue.x_zero_point), inside);
      let sums = tap_sums[tap * params.n_words + word];
      acc0 -= zero_point.x * sums;
      acc1 -= zero_point.y * sums;
      acc2 -= zero_point.z * sums;
      acc3 -= zero_point.w * sums;
      let base = (lines + vec4<u32>(columns)) * steps;
      let w = word * 4u * row + tap * steps;
      var products = mat4x4<f32>();
      for (var c = 0u; c < steps; c++) {
        let w0 = weight[w + c];
        let w1 = weight[w + row + c];
        let w2 = weight[w + 2u * row + c];
        let w3 = weight[w + 3u * row + c];
        let a0 = select(vec4<u32>(0u), x[base.x + c], inside.x);
        let a1 = select(vec4<u32>(0u), x[base.y + c], inside.y);
        let a2 = select(vec4<u32>(0u), x[base.z + c], inside.z);
        let a3 = select(vec4<u32>(0u), x[base.w + c], inside.w);
        products += products16(a0, a1, a2, a3, w0, w1, w2, w3);
        if (long_sums && c % 64u == 63u) {
          acc0 += narrowed(products[0]);
          acc1 += narrowed(products[1]);
          acc2 += narrowed(products[2]);
          acc3 += narrowed(products[3]);
          products = mat4x4<f32>();
        }
      }
      acc0 += narrowed(products[0]);
      acc1 += narrowed(products[1]);
      acc2 += narrowed(products[2]);
      acc3 += narrowed(products[3]);
    }
  }
  store(pixel, word, acc0);
  store(pixel + 1u, word, acc1);
  store(pixel + 2u, word, acc2);
  store(pixel + 3u, word, acc3);
}
