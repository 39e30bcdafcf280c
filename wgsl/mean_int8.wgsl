// The mean of an int8 tensor over any of its axes: summed in int32, scaled once. `lanes` threads share a word of y, each
// taking every lanes-th term. `together`: the four bytes of a word of y come from a word of x.

// uses average

override lanes: u32 = 1u;
override together: bool = false;

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  count: u32,
  kept_rank: u32,
  reduced_rank: u32,
  kept_sizes: array<vec4<u32>, 2>,
  kept_places: array<vec4<u32>, 2>,
  reduced_sizes: array<vec4<u32>, 2>,
  reduced_places: array<vec4<u32>, 2>,
  x_zero_point: i32,
  factor: f32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> partial: array<vec4<i32>, 64>;

// The byte of x at which the terms of an output begin.
fn first_byte(output: u32) -> u32 {
  var rest = output;
  var byte = 0u;
  for (var axis = 0u; axis < params.kept_rank; axis++) {
    let size = params.kept_sizes[axis / 4u][axis % 4u];
    byte += rest % size * params.kept_places[axis / 4u][axis % 4u];
    rest /= size;
  }
  return byte;
}

// How many bytes after the first a term stands.
fn term(index: u32) -> u32 {
  var rest = index;
  var byte = 0u;
  for (var axis = 0u; axis < params.reduced_rank; axis++) {
    let size = params.reduced_sizes[axis / 4u][axis % 4u];
    byte += rest % size * params.reduced_places[axis / 4u][axis % 4u];
    rest /= size;
  }
  return byte;
}

fn term_at(byte: u32) -> i32 {
  let v = extractBits(bitcast<i32>(x[byte / 4u]), byte % 4u * 8u, 8u);
  if (looked_up) {
    return table[v + 128];
  }
  return v;
}

fn part_of_sum(word: u32, lane: u32) -> vec4<i32> {
  let channel = word % params.channel_words * 4u;
  let pixel = word / params.channel_words;
  let first = (pixel / params.inner * params.channels + channel) * params.inner + pixel % params.inner;
  var sum = vec4<i32>();
  if (together) {
    let base = first_byte(first);
    for (var i = lane; i < params.count; i += lanes) {
      sum += terms_of(x[(base + term(i)) / 4u]);
    }
    return sum;
  }
  for (var k = 0u; k < min(4u, params.channels - min(channel, params.channels)); k++) {
    let base = first_byte(first + k * params.inner);
    for (var i = lane; i < params.count; i += lanes) {
      sum[k] += term_at(base + term(i));
    }
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let word = flat_workgroup(id, grid) * (64u / lanes) + local / lanes;
  if (word < params.words) {
    partial[local] = part_of_sum(word, local % lanes);
  }
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partial[local] += partial[local + half];
    }
  }
  if (local % lanes == 0u && word < params.words) {
    y[word] = averaged(partial[local] - i32(params.count) * params.x_zero_point, params.factor);
  }
}
