// uses lanes
// uses wide
// Running sums along one dimension, as float32 or integers. `lanes` threads share a row: each takes a part of it, and adds
// to its sums those of the parts before.

override dtype: u32 = FLOAT32;  // of x
override floats: bool = true;   // results are float32
override wide: bool = false;    // or int64, else int32

struct Params {
  rows: u32,
  count: u32,
  inner: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<vec2<u32>, 64>;

// The bits of a float32, or an integer.
fn element(i: u32) -> vec2<u32> {
  let word = first_word(i, dtype);
  let v = widened_integer(x[word], x[word + u32(dtype == INT64)], i, dtype);
  if (floats && dtype != FLOAT32) {
    return vec2<u32>(bitcast<u32>(int_to_float(v)), 0u);
  }
  return v;
}

fn sum_of(v: vec2<u32>, w: vec2<u32>) -> vec2<u32> {
  if (floats) {
    return vec2<u32>(bitcast<u32>(bitcast<f32>(v.x) + bitcast<f32>(w.x)), 0u);
  }
  return added(v, w);
}

fn run(row: u32, local: u32) {
  let lane = local % lanes;
  let base = row / params.inner * params.count * params.inner + row % params.inner;
  let part = (params.count + lanes - 1u) / lanes;
  let end = select(0u, min((lane + 1u) * part, params.count), row < params.rows);

  var sum = vec2<u32>();
  for (var i = lane * part; i < end; i++) {
    sum = sum_of(sum, element(base + i * params.inner));
  }
  partial[local] = sum;
  workgroupBarrier();
  var before = vec2<u32>();
  for (var other = local - lane; other < local; other++) {
    before = sum_of(before, partial[other]);
  }

  sum = vec2<u32>();
  for (var i = lane * part; i < end; i++) {
    let at = base + i * params.inner;
    sum = sum_of(sum, element(at));
    let total = sum_of(before, sum);
    if (wide) {
      y[2u * at] = total.x;
      y[2u * at + 1u] = total.y;
    } else {
      y[at] = total.x;
    }
  }
}
