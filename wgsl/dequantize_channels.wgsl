// uses threads
// uses channels
// Integers of any size to float32, each channel by its own scale and zero point, both row-major; one thread an element.

override size: u32 = 1u;                 // of an integer, in bytes
override is_signed: bool = true;
override converts_first: bool = false;   // integer and zero point become floats before they are subtracted

struct Params {
  count: u32,
  @align(16) by_channel: ByChannel,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn load(element: u32) -> i32 {
  let per_word = 4u / size;
  let word = x[element / per_word];
  let at = element % per_word * size * 8u;
  if (is_signed) {
    return extractBits(bitcast<i32>(word), at, size * 8u);
  }
  return i32(extractBits(word, at, size * 8u));
}

// v − w as a float, rounded once: the difference may need 33 bits. Half of it converts as a signed number, which every
// device rounds right, with its last bit set where any was.
fn difference(v: i32, w: i32) -> f32 {
  let d = select(u32(v) - u32(w), u32(w) - u32(v), v < w);
  let large = d >> 31u == 1u;
  let magnitude = f32(i32(select(d, (d >> 1u) | (d & 1u), large))) * select(1.0, 2.0, large);
  return select(magnitude, -magnitude, v < w);
}

fn run(element: u32) {
  if (element >= params.count) {
    return;
  }
  let channel = channel_of(element);
  let v = load(element);
  let zero_point = zero_point_of(channel);
  var shifted = difference(v, zero_point);
  if (converts_first) {
    shifted = f32(v) - f32(zero_point);
  }
  y[element] = shifted * bitcast<f32>(scale_of(channel));
}
