// float32 convolution, transposed ones in gather form; a thread makes one pixel of four output channels of a group.
// Neighbouring threads take neighbouring pixels, so that they read the same weights.

override transposed: bool = false;
override single: bool = false;  // groups of one output channel: a thread makes one
override clamped: bool = false;

struct Params {
  threads: u32,
  groups: u32,
  blocks: u32,
  x_channels: u32,
  y_channels: u32,
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
  w_input: u32,
  w_output: u32,
  bias_step: u32,
  low: f32,
  high: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

// The row or column of x that a tap reads, −1 for none.
fn source(out: u32, tap: u32, stride: u32, pad: u32, dilation: u32, size: u32) -> i32 {
  if (transposed) {
    let reach = i32(out + pad) - i32(tap * dilation);
    let at = reach / i32(stride);
    return select(-1, at, reach >= 0 && reach % i32(stride) == 0 && at < i32(size));
  }
  let at = i32(out * stride + tap * dilation) - i32(pad);
  return select(-1, at, at < i32(size));
}

fn store(at: u32, channel: u32, acc: f32) {
  var v = acc + bias[channel * params.bias_step];
  if (clamped && !is_nan(v)) {
    v = min(max(v, params.low), params.high);
  }
  y[at] = v;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let thread = flat_workgroup(id, grid) * 64u + local;
  if (thread >= params.threads) {
    return;
  }
  let plane = params.y_height * params.y_width;
  let pixel = thread % plane;
  let block = thread / plane % params.blocks;
  let map = thread / plane / params.blocks;  // of all groups of all images
  let oc = block * 4u;
  let last = params.y_channels - 1u;
  let first = map % params.groups * params.x_channels * params.y_channels * params.kernel_height * params.kernel_width;
  // channels beyond the group's last repeat it, and are not stored
  let w = first + min(vec4<u32>(oc, oc + 1u, oc + 2u, oc + 3u), vec4<u32>(last)) * params.w_output;
  let x_plane = params.x_height * params.x_width;
  var acc = vec4<f32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let ih = source(
      pixel / params.y_width, kh, params.stride_height, params.pad_height, params.dilation_height, params.x_height);
    if (ih < 0) {
      continue;
    }
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let iw = source(
        pixel % params.y_width, kw, params.stride_width, params.pad_width, params.dilation_width, params.x_width);
      if (iw < 0) {
        continue;
      }
      var at = map * params.x_channels * x_plane + u32(ih) * params.x_width + u32(iw);
      var tap = w + kh * params.kernel_width + kw;
      for (var ic = 0u; ic < params.x_channels; ic++) {
        if (single) {
          acc.x += x[at] * weight[tap.x];
        } else {
          acc += x[at] * vec4<f32>(weight[tap.x], weight[tap.y], weight[tap.z], weight[tap.w]);
        }
        at += x_plane;
        tap += params.w_input;
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
