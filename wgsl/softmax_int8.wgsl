// uses lanes
// uses tree
// uses quotient
// uses dot4
// uses int8
// Softmax of int8 rows that lie in whole words, a workgroup each. Exponentials are looked up; the first thread adds them
// up in order, since a sum of floats depends on it.

struct Params {
  rows: u32,
  count: u32,
  row_words: u32,
  y_scale: f32,
  y_zero_point: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> exponentials: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

alias Partial = i32;

var<workgroup> terms: array<vec4<f32>, 64>;

fn combined(a: Partial, b: Partial) -> Partial {
  return max(a, b);
}

// How many elements of a word belong to the row.
fn elements(word: u32) -> u32 {
  return min(params.count - min(params.count, 4u * word), 4u);
}

fn terms_of(word: u32, top: i32) -> vec4<f32> {
  let v = unpack(word);
  let below = vec4<u32>(max(top - v, vec4<i32>()));
  return vec4<f32>(
    exponentials[below.x], exponentials[below.y], exponentials[below.z], exponentials[below.w]);
}

fn run(row: u32, local: u32) {
  let base = row * params.row_words;
  let words = select(0u, (params.count + 3u) / 4u, row < params.rows);
  var top = -128;
  for (var i = local; i < words; i += lanes) {
    let v = unpack(x[base + i]);
    for (var k = 0u; k < elements(i); k++) {
      top = max(top, v[k]);
    }
  }
  top = reduced_for_all(top, local);
  var sum = 0.0;
  for (var first = 0u; first < params.row_words; first += lanes) {
    if (first + local < words) {
      terms[local] = terms_of(x[base + first + local], top);
    }
    workgroupBarrier();
    if (local == 0u) {
      for (var i = first; i < min(first + lanes, words); i++) {
        for (var k = 0u; k < elements(i); k++) {
          sum += terms[i - first][k];
        }
      }
    }
    workgroupBarrier();
  }
  if (local == 0u) {
    terms[0].x = sum;
  }
  workgroupBarrier();
  let scaled = bitcast<u32>(terms[0].x * params.y_scale);
  let factor = bitcast<f32>(quotient(0x3f800000u, scaled));
  let zero_point = f32(params.y_zero_point);
  for (var i = local; i < words; i += lanes) {
    // halves go up; results above the largest int8 are cut first
    let v = clamp(terms_of(x[base + i], top) * factor, vec4<f32>(), vec4<f32>(256.0));
    let whole = vec4<i32>(v);
    let up = select(vec4<i32>(), vec4<i32>(1), v - vec4<f32>(whole) >= vec4<f32>(0.5));
    y[base + i] = pack(clamp(whole + up + params.y_zero_point, vec4<i32>(-128), vec4<i32>(127)));
  }
}
