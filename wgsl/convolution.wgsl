// uses threads
// uses taps
// uses floats
// float32 convolutions, transposed ones in gather form; a thread makes one pixel of four output channels of a group.
// Neighbouring threads take neighbouring pixels, so that they read the same weights.

override single: bool = false;  // groups of one output channel: a thread makes one
override clamped: bool = false;

struct Params {
  threads: u32,
  groups: u32,
  blocks: u32,
  x_channels: u32,
  y_channels: u32,
  weight_input_stride: u32,
  weight_output_stride: u32,
  bias_stride: u32,
  low: f32,
  high: f32,
  @align(16) maps: Maps,
  @align(16) window: Window,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn store(at: u32, channel: u32, acc: f32) {
  var v = acc + bias[channel * params.bias_stride];
  if (clamped && !is_nan(v)) {
    v = min(max(v, params.low), params.high);
  }
  y[at] = v;
}

fn run(thread: u32) {
  if (thread >= params.threads) {
    return;
  }
  let plane = params.maps.y_height * params.maps.y_width;
  let pixel = thread % plane;
  let block = thread / plane % params.blocks;
  let map = thread / plane / params.blocks;  // of all groups of all images
  let oc = block * 4u;
  let last = params.y_channels - 1u;
  let first = map % params.groups * params.x_channels * params.y_channels * params.window.kernel_height * params.window.kernel_width;
  // channels beyond the group's last repeat it, and are not stored
  let w = first + min(vec4<u32>(oc, oc + 1u, oc + 2u, oc + 3u), vec4<u32>(last)) * params.weight_output_stride;
  let x_plane = params.maps.x_height * params.maps.x_width;
  var acc = vec4<f32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    let row = source_row(pixel / params.maps.y_width, kh);
    if (row < 0) {
      continue;
    }
    for (var kw = 0u; kw < params.window.kernel_width; kw++) {
      let column = source_column(pixel % params.maps.y_width, kw);
      if (column < 0) {
        continue;
      }
      var at = map * params.x_channels * x_plane + u32(row) * params.maps.x_width + u32(column);
      var tap = w + kh * params.window.kernel_width + kw;
      for (var ic = 0u; ic < params.x_channels; ic++) {
        if (single) {
          acc.x += x[at] * weight[tap.x];
        } else {
          acc += x[at] * vec4<f32>(weight[tap.x], weight[tap.y], weight[tap.z], weight[tap.w]);
        }
        at += x_plane;
        tap += params.weight_input_stride;
      }
    }
  }
  let group = map % params.groups * params.y_channels;
  let base = (map * params.y_channels + oc) * plane + pixel;
  if (single) {
    store(map * plane + pixel, group, acc.x);
    return;
  }
  for (var lane = 0u; lane < min(4u, params.y_channels - oc); lane++) {
    store(base + lane * plane, group + oc + lane, acc[lane]);
  }
}
