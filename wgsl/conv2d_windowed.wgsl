// Convolutions with groups or few channels, and transposed ones in gather form; one thread a word of four channels.
// Neighbouring threads take the words of one pixel, so that they agree on which taps to skip.

override transposed: bool = false;
override shared_window: bool = true;

struct Params {
  words: u32,
  y_height: u32,
  y_width: u32,
  y_channel_words: u32,
  n_words: u32,
  x_height: u32,
  x_width: u32,
  x_channel_words: u32,
  window: u32,
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
  x_zero_point: i32,
  x_scale: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  activation_min: f32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tap_sums: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> first: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> channel: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

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

fn four(a: vec4<u32>, w: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(dot4(a.x, w.x), dot4(a.y, w.y), dot4(a.z, w.z), dot4(a.w, w.w));
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let index = flat_workgroup(id, grid) * 64u + local;
  if (index >= params.words) {
    return;
  }
  let word = index % params.n_words;
  let pixel = index / params.n_words;
  let ow = pixel % params.y_width;
  let oh = pixel / params.y_width % params.y_height;
  let n = pixel / params.y_width / params.y_height;
  let start = first[word];
  let taps = params.kernel_height * params.kernel_width;
  var acc = vec4<i32>();
  for (var kh = 0u; kh < params.kernel_height; kh++) {
    let ih = source(oh, kh, params.stride_height, params.pad_height, params.dilation_height, params.x_height);
    if (ih < 0) {
      continue;
    }
    for (var kw = 0u; kw < params.kernel_width; kw++) {
      let iw = source(ow, kw, params.stride_width, params.pad_width, params.dilation_width, params.x_width);
      if (iw < 0) {
        continue;
      }
      let tap = kh * params.kernel_width + kw;
      let base = ((n * params.x_height + u32(ih)) * params.x_width + u32(iw)) * params.x_channel_words;
      var w = (word * taps + tap) * params.window;
      if (shared_window) {
        for (var i = 0u; i < params.window; i++) {
          acc += four(vec4<u32>(x[base + start.x + i]), weight[w]);
          w++;
        }
      } else {
        for (var i = 0u; i < params.window; i++) {
          let at = start + vec4<u32>(base + i);
          acc += four(vec4<u32>(x[at.x], x[at.y], x[at.z], x[at.w]), weight[w]);
          w++;
        }
      }
      acc -= params.x_zero_point * tap_sums[tap * params.n_words + word];
    }
  }
  y[pixel * params.y_channel_words + word] = requantize(
    acc, params.x_scale, channel[2u * word], channel[2u * word + 1u],
    params.activation_min, params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max);
}
