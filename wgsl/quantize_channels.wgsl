// uses threads
// uses channels
// uses quotient
// float32 to integers of any size, each channel by its own scale and zero point, both row-major; one thread a word.

override size: u32 = 1u;              // of an integer, in bytes
override reciprocals: bool = false;   // scales are 1 / scale
override divides: bool = false;       // by the scale, to the bit

struct Params {
  count: u32,
  qmin: i32,
  qmax: i32,
  @align(16) by_channel: ByChannel,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

fn quantize(element: u32) -> u32 {
  let bits = x[element];
  let channel = channel_of(element);
  let zero_point = zero_point_of(channel);
  if (is_nan(bitcast<f32>(bits))) {
    return u32(zero_point);
  }
  var inverse = scale_of(channel);
  if (!reciprocals && !divides) {
    inverse = quotient(ONE_BITS, inverse);
  }
  var scaled = bitcast<f32>(bits) * bitcast<f32>(inverse);
  if (divides) {
    scaled = bitcast<f32>(quotient(bits, scale_of(channel)));
  }
  let q = round(scaled) + f32(zero_point);
  // bounds that are no float32 are rounded, which must not show
  if (q >= f32(params.qmax)) {
    return u32(params.qmax);
  }
  return u32(max(i32(q), params.qmin));
}

fn run(word: u32) {
  let first = word * (4u / size);
  if (first >= params.count) {
    return;
  }
  var out = 0u;
  for (var lane = 0u; lane < min(4u / size, params.count - first); lane++) {
    out = insertBits(out, quantize(first + lane), lane * size * 8u, size * 8u);
  }
  y[word] = out;
}
