// uses threads
// uses dot4
// uses int8
// uses window
// The largest element of each window of a channels-last int8 map; one thread a word of four channels.

struct Params {
  words: u32,
  channel_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  let word = index % params.channel_words;
  let pixel = index / params.channel_words;
  let at = place_in_y(pixel);
  let top = first_row(at.row);
  let left = first_column(at.column);
  var largest = vec4<i32>(-128);
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let row = top + tap_row(kh);
    if (!is_row(row)) {
      continue;
    }
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let column = left + tap_column(kw);
      if (is_column(column)) {
        largest = max(largest, unpack(x[pixel_of_x(at.map, u32(row), u32(column)) * params.channel_words + word]));
      }
    }
  }
  y[index] = pack(largest);
}
