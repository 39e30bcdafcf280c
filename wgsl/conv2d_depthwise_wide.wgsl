// uses threads
// uses dot4
// uses window
// uses epilogue
// An int8 depthwise convolution of channels-last maps whose pixels are whole vec4 of words; one thread 16 channels.

struct Params {
  words: u32,
  n_words: u32,
  y_channel_words: u32,
  x_channel_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

fn run(index: u32) {
  if (index >= params.words / 4u) {
    return;
  }
  let groups = params.x_channel_words / 4u;
  let group = index % groups;
  let pixel = index / groups;
  let at = place_in_y(pixel);
  let top = first_row(at.row);
  let left = first_column(at.column);
  var p = vec4<i32>();
  var q = vec4<i32>();
  var r = vec4<i32>();
  var s = vec4<i32>();
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
      let a = x[pixel_of_x(at.map, u32(row), u32(column)) * groups + group];
      let w = weight[(kh * params.window.kernel_width + kw) * groups + group];
      p += (unpack(a.x) - params.epilogue.x_zero_point) * unpack(w.x);
      q += (unpack(a.y) - params.epilogue.x_zero_point) * unpack(w.y);
      r += (unpack(a.z) - params.epilogue.x_zero_point) * unpack(w.z);
      s += (unpack(a.w) - params.epilogue.x_zero_point) * unpack(w.w);
    }
  }
  let word = 4u * group;
  y[index] = vec4<u32>(
    requantized(p, word), requantized(q, word + 1u), requantized(r, word + 2u), requantized(s, word + 3u));
}
