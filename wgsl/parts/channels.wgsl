// What quantizing and dequantizing by channels share: the scale and the zero point of each channel.

override wide_scales: bool = false;  // float64

struct ByChannel {
  channels: u32,
  inner: u32,  // how many neighbouring elements have one channel
  scale_stride: u32,
  zero_point_stride: u32,
}

@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> zero_points: array<i32>;

fn channel_of(element: u32) -> u32 {
  return element / params.by_channel.inner % params.by_channel.channels;
}

// The bits of a normal float64, low word first, as those of the nearest float32.
fn narrowed(low: u32, high: u32) -> u32 {
  let exponent = i32((high >> 20u) & 0x7ffu) - 896;
  if (exponent <= 0) {
    return high & 0x80000000u;
  }
  if (exponent >= 255) {
    return (high & 0x80000000u) | 0x7f800000u;
  }
  let kept = (u32(exponent) << 23u) | ((high & 0xfffffu) << 3u) | (low >> 29u);
  let lost = low & 0x1fffffffu;
  let up = u32(lost > 0x10000000u || (lost == 0x10000000u && (kept & 1u) == 1u));
  return (kept + up) | (high & 0x80000000u);
}

// The float32 scale of a channel, as bits.
fn scale_of(channel: u32) -> u32 {
  let at = channel * params.by_channel.scale_stride;
  if (wide_scales) {
    return narrowed(scales[at], scales[at + 1u]);
  }
  return scales[at];
}

// Zero points that are int64 are read by their lower words.
fn zero_point_of(channel: u32) -> i32 {
  return zero_points[channel * params.by_channel.zero_point_stride];
}
