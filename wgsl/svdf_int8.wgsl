// uses lanes
// uses dot4
// uses int8
// uses fixed_point
// Filters of features, then of time, on int8, by one workgroup; a thread has every 64th filter.

struct Params {
  batch: u32,
  filters: u32,
  memory: u32,
  rank: u32,
  input_words: u32,
  inputs: u32,
  x_row: u32,
  y_row: u32,
  x_zero_point: i32,
  y_zero_point: i32,
  @align(16) newest: Multiplier,
  @align(16) sum: Multiplier,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> old: array<u32>;
@group(0) @binding(2) var<storage, read> feature: array<u32>;
@group(0) @binding(3) var<storage, read> time: array<i32>;  // then the biases
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<storage, read_write> state: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> newest: array<i32, 1024>;
var<workgroup> sums: array<i32, 1024>;

fn old_value(at: u32) -> i32 {
  return extractBits(bitcast<i32>(old[at / 2u]), at % 2u * 16u, 16u);
}

// Element `at` of the new state.
fn value(at: u32) -> i32 {
  if (at % params.memory == params.memory - 1u) {
    return newest[at / params.memory];
  }
  return old_value(at + 1u);
}

fn filtered(i: u32) -> i32 {
  let row = i / params.filters * params.x_row;
  let weights = i % params.filters * params.input_words;
  var sum = 0;
  var whole = 0;
  for (var k = 0u; k < params.input_words; k++) {
    let w = unpack(feature[weights + k]);
    sum += dot(unpack(x[row + k]), w);
    whole += dot(vec4<i32>(1), w);
  }
  return short(scaled(sum - params.x_zero_point * whole, params.newest));
}

fn unit(i: u32) -> i32 {
  let units = params.filters / params.rank;
  var sum = time[params.filters * params.memory + i % units];
  for (var k = 0u; k < params.rank; k++) {
    sum += sums[i * params.rank + k];
  }
  return clamp(scaled(sum, params.sum) + params.y_zero_point, -128, 127);
}

fn run(group: u32, local: u32) {
  let all = params.batch * params.filters;
  for (var i = local; i < all; i += 64u) {
    newest[i] = filtered(i);
  }
  workgroupBarrier();
  for (var i = local; i < all; i += 64u) {
    var sum = 0;
    for (var m = 0u; m < params.memory; m++) {
      sum += time[i % params.filters * params.memory + m] * value(i * params.memory + m);
    }
    sums[i] = sum;
  }
  workgroupBarrier();
  if (group > 0u) {
    return;
  }
  let units = params.filters / params.rank;
  for (var i = local; i < params.batch * params.y_row; i += 64u) {
    let first = i % params.y_row * 4u;
    var q = vec4<i32>();
    for (var k = 0u; k < min(4u, units - min(units, first)); k++) {
      q[k] = unit(i / params.y_row * units + first + k);
    }
    y[i] = pack(q);
  }
  for (var i = 2u * local; i < all * params.memory; i += 128u) {
    var second = 0;
    if (i + 1u < all * params.memory) {
      second = value(i + 1u);
    }
    state[i / 2u] = (u32(value(i)) & 0xffffu) | (u32(second) << 16u);
  }
}
