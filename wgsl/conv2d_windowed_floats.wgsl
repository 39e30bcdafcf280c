// uses threads
// uses widened
// uses window
// uses epilogue
// uses written
// What conv2d_windowed.wgsl computes, on a CPU that emulates a GPU: a thread makes four pixels of a row × four channels, their products
// are floats. Pixels of a transposed convolution lie a stride apart, so that the four of a thread take the same taps.
// Taps outside of the map count as the zero point.

override transposed: bool = false;
override shared_window: bool = true;
override long_sums: bool = false; // more terms than a float32 holds: each tap's move to integers

struct Params {
  rows: u32,
  blocks: u32,
  pixel_stride: u32,  // between the pixels of a thread
  y_channel_words: u32,
  n_words: u32,
  x_channel_words: u32,
  window_words: u32,
  @align(16) maps: Maps,
  @align(16) window: Window,
  @align(16) epilogue: Epilogue,
  @align(16) written: Written,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> first: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> channel: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn deviation(at: u32, inside: bool, nothing: u32, zero: vec4<f32>) -> vec4<f32> {
  return widened(select(nothing, x[at], inside)) - zero;
}

// Products of a pixel where each of the four channels reads words of its own.
fn four(at: vec4<u32>, inside: bool, nothing: u32, zero: vec4<f32>, w: mat4x4<f32>) -> vec4<f32> {
  return vec4<f32>(
    dot(deviation(at.x, inside, nothing, zero), w[0]), dot(deviation(at.y, inside, nothing, zero), w[1]),
    dot(deviation(at.z, inside, nothing, zero), w[2]), dot(deviation(at.w, inside, nothing, zero), w[3]));
}

fn store(row: u32, column: u32, word: u32, acc: vec4<i32>) {
  if (column < params.maps.y_width) {
    write((row * params.maps.y_width + column) * params.y_channel_words + word, requantized(acc, word));
  }
}

fn run(index: u32) {
  let word = index % params.n_words;
  let pixel_stride = params.pixel_stride;
  let block = index / params.n_words % params.blocks;
  let phase = index / params.n_words / params.blocks % pixel_stride;
  let row = index / params.n_words / params.blocks / pixel_stride;
  if (row >= params.rows) {
    return;
  }
  let n = row / params.maps.y_height;
  let oh = i32(row % params.maps.y_height);
  let ow = i32(block * 4u * pixel_stride + phase);
  let start = first[word];
  let nothing = pack(vec4<i32>(params.epilogue.x_zero_point));
  let zero = widened(nothing);
  let stride_height = i32(params.window.stride_height);
  let stride_width = i32(params.window.stride_width);
  let dilation_width = i32(params.window.dilation_width);
  let kernel_width = params.window.kernel_width;
  let pad_width = i32(params.window.pad_width);
  let x_width = params.maps.x_width;
  let x_channel_words = params.x_channel_words;
  let window_words = params.window_words;
  var acc0 = vec4<i32>();
  var acc1 = vec4<i32>();
  var acc2 = vec4<i32>();
  var acc3 = vec4<i32>();
  var sums = mat4x4<f32>();
  for (var kh = 0u; kh < params.window.kernel_height; kh++) {
    var ih = oh * stride_height + i32(kh * params.window.dilation_height) - i32(params.window.pad_height);
    if (transposed) {
      let reach = oh + i32(params.window.pad_height) - i32(kh * params.window.dilation_height);
      ih = select(-1, reach / stride_height, reach % stride_height == 0);
    }
    if (ih < 0 || ih >= i32(params.maps.x_height)) {
      continue;
    }
    let line = (n * params.maps.x_height + u32(ih)) * x_width;
    for (var kw = 0u; kw < kernel_width; kw++) {
      var columns = (ow + vec4<i32>(0, 1, 2, 3)) * stride_width + i32(kw) * dilation_width - pad_width;
      if (transposed) {
        let reach = ow + pad_width - i32(kw) * dilation_width;
        if (reach % stride_width != 0) {
          continue;
        }
        columns = reach / stride_width + vec4<i32>(0, 1, 2, 3);
      }
      let inside = (columns >= vec4<i32>(0)) & (columns < vec4<i32>(i32(x_width)));
      if (!any(inside)) {
        continue;
      }
      let base = (line + vec4<u32>(columns)) * x_channel_words;
      var w = ((word * params.window.kernel_height + kh) * kernel_width + kw) * window_words;
      for (var i = 0u; i < window_words; i++) {
        let b = weight[w];
        let weights = widened4(b.x, b.y, b.z, b.w);
        if (shared_window) {
          let at = base + start.x + i;
          sums += transpose(weights) * mat4x4<f32>(
            deviation(at.x, inside.x, nothing, zero), deviation(at.y, inside.y, nothing, zero),
            deviation(at.z, inside.z, nothing, zero), deviation(at.w, inside.w, nothing, zero));
        } else {
          sums[0] += four(start + base.x + i, inside.x, nothing, zero, weights);
          sums[1] += four(start + base.y + i, inside.y, nothing, zero, weights);
          sums[2] += four(start + base.z + i, inside.z, nothing, zero, weights);
          sums[3] += four(start + base.w + i, inside.w, nothing, zero, weights);
        }
        w++;
      }
      if (long_sums) {
        acc0 += narrowed(sums[0]);
        acc1 += narrowed(sums[1]);
        acc2 += narrowed(sums[2]);
        acc3 += narrowed(sums[3]);
        sums = mat4x4<f32>();
      }
    }
  }
  store(row, u32(ow), word, acc0 + narrowed(sums[0]));
  store(row, u32(ow) + pixel_stride, word, acc1 + narrowed(sums[1]));
  store(row, u32(ow) + 2u * pixel_stride, word, acc2 + narrowed(sums[2]));
  store(row, u32(ow) + 3u * pixel_stride, word, acc3 + narrowed(sums[3]));
}
