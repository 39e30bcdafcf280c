// uses threads
// uses dot4
// uses maps
// uses epilogue
// uses written
// An int8 depthwise convolution with 3 × 3 taps, on GPUs with packed dot products: a thread takes a word of four channels
// down a strip of y, two columns of x (four with stride 1) after another.
//
// Four neighbouring pixels of a word are turned from [pixel][channel] into [channel][pixel], so that one dot product takes a
// row of three taps; the fourth pixel has weight zero. With stride 1 the same words serve the next pixel of y by weights
// that are moved up by a byte. The rows of x that the next row of y takes again stay in registers.

struct Params {
  threads: u32,
  stride: u32, // 1 or 2, on both axes; as an override it hangs SwiftShader's compiler
  n_words: u32,
  strips: u32,
  bands: u32,
  band_rows: u32,
  pad_height: u32,
  pad_width: u32,
  @align(16) maps: Maps,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// Outside of the map x is its zero point.
fn load(image: u32, h: i32, v: i32, word: u32) -> u32 {
  if (h < 0 || v < 0 || h >= i32(params.maps.x_height) || v >= i32(params.maps.x_width)) {
    return u32(params.epilogue.x_zero_point & 255) * 0x01010101u;
  }
  return x[((image * params.maps.x_height + u32(h)) * params.maps.x_width + u32(v)) * params.n_words + word];
}

// Four pixels of four channels as four channels of four pixels.
fn turned(a: u32, b: u32, c: u32, d: u32) -> vec4<u32> {
  let low = vec2<u32>(0x00ff00ffu);
  let even = (vec2<u32>(a, c) & low) | ((vec2<u32>(b, d) & low) << vec2<u32>(8u));
  let odd = ((vec2<u32>(a, c) >> vec2<u32>(8u)) & low) | (vec2<u32>(b, d) & ~low);
  return vec4<u32>(
    (even.x & 0xffffu) | (even.y << 16u), (odd.x & 0xffffu) | (odd.y << 16u),
    (even.x >> 16u) | (even.y & 0xffff0000u), (odd.x >> 16u) | (odd.y & 0xffff0000u));
}

// Two turned words of a row of x: of its pixels from `left` on, and from two further.
struct Row {
  first: vec4<u32>,
  second: vec4<u32>,
}

fn load_row(image: u32, h: i32, left: i32, word: u32) -> Row {
  let c = load(image, h, left + 2, word);
  let d = load(image, h, left + 3, word);
  return Row(
    turned(load(image, h, left, word), load(image, h, left + 1, word), c, d),
    turned(c, d, load(image, h, left + 4, word), load(image, h, left + 5, word)));
}

// Three rows of three taps, of four channels.
struct Taps {
  upper: vec4<u32>,
  middle: vec4<u32>,
  lower: vec4<u32>,
}

fn load_taps(row: u32, word: u32) -> vec4<u32> {
  let at = 3u * row * params.n_words + word;
  return turned(weight[at], weight[at + params.n_words], weight[at + 2u * params.n_words], 0u);
}

fn add(acc: vec4<i32>, pixels: vec4<u32>, taps: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(
    dot4(pixels.x, taps.x) + acc.x, dot4(pixels.y, taps.y) + acc.y,
    dot4(pixels.z, taps.z) + acc.z, dot4(pixels.w, taps.w) + acc.w);
}

fn sum(start: vec4<i32>, upper: vec4<u32>, middle: vec4<u32>, lower: vec4<u32>, taps: Taps) -> vec4<i32> {
  return add(add(add(start, upper, taps.upper), middle, taps.middle), lower, taps.lower);
}

fn store(row: u32, column: u32, word: u32, acc: vec4<i32>) {
  if (column < params.maps.y_width) {
    write((row * params.maps.y_width + column) * params.n_words + word, requantized(acc, word));
  }
}

fn run(index: u32) {
  if (index >= params.threads) {
    return;
  }
  let word = index % params.n_words;
  let strip = index / params.n_words % params.strips;
  let band = index / params.n_words / params.strips % params.bands;
  let image = index / params.n_words / params.strips / params.bands;
  let left = i32(strip * 4u) - i32(params.pad_width);
  let taps = Taps(load_taps(0u, word), load_taps(1u, word), load_taps(2u, word));
  let moved = Taps(taps.upper << vec4<u32>(8u), taps.middle << vec4<u32>(8u), taps.lower << vec4<u32>(8u));
  let ones = vec4<u32>(0x01010101u);
  let start = -params.epilogue.x_zero_point * sum(vec4<i32>(), ones, ones, ones, taps);

  let first = band * params.band_rows;
  let end = min(first + params.band_rows, params.maps.y_height);
  var h = i32(first * params.stride) - i32(params.pad_height);
  var upper = load_row(image, h, left, word);
  var middle = load_row(image, h + 1, left, word);
  for (var oh = first; oh < end; oh++) {
    if (params.stride == 2u) {
      middle = load_row(image, h + 1, left, word);
    }
    let lower = load_row(image, h + 2, left, word);
    let row = image * params.maps.y_height + oh;
    let column = strip * 4u / params.stride;
    if (params.stride == 1u) {
      store(row, column, word, sum(start, upper.first, middle.first, lower.first, taps));
      store(row, column + 1u, word, sum(start, upper.first, middle.first, lower.first, moved));
      store(row, column + 2u, word, sum(start, upper.second, middle.second, lower.second, taps));
      store(row, column + 3u, word, sum(start, upper.second, middle.second, lower.second, moved));
      upper = middle;
      middle = lower;
    } else {
      store(row, column, word, sum(start, upper.first, middle.first, lower.first, taps));
      store(row, column + 1u, word, sum(start, upper.second, middle.second, lower.second, taps));
      upper = lower;
    }
    h += i32(params.stride);
  }
}
