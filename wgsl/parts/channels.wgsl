// uses float64
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

// The float32 scale of a channel, as bits.
fn scale_of(channel: u32) -> u32 {
  let at = channel * params.by_channel.scale_stride;
  if (wide_scales) {
    return narrowed64(scales[at], scales[at + 1u]);
  }
  return scales[at];
}

// Zero points that are int64 are read by their lower words.
fn zero_point_of(channel: u32) -> i32 {
  return zero_points[channel * params.by_channel.zero_point_stride];
}
