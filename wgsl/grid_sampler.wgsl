// uses threads
// Maps read at places of a grid, whose coordinates −1 and 1 are the edges of the map; one thread an element of y.

const BILINEAR = 0u;
const NEAREST = 1u;
const BICUBIC = 2u;

const ZEROS = 0u;
const BORDER = 1u;
const REFLECTION = 2u;

override interpolation: u32 = BILINEAR;
override padding: u32 = ZEROS;
override align_corners: bool = false;

struct Params {
  results: u32,
  channels: u32,
  places: u32,
  height: u32,
  width: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> grid: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

// From −1…1 to rows and columns.
fn unnormalized(v: vec2<f32>, size: vec2<f32>) -> vec2<f32> {
  if (align_corners) {
    return (v + 1.0) / 2.0 * (size - 1.0);
  }
  return ((v + 1.0) * size - 1.0) / 2.0;
}

// Mirrored at the edges of the map, or at the centres of its corners, until it lies between them.
fn reflected(at: f32, size: f32) -> f32 {
  let low = select(-0.5, 0.0, align_corners);
  let twice = 2.0 * select(size, size - 1.0, align_corners);
  if (twice == 0.0) {
    return 0.0;
  }
  let distance = abs(at - low);
  let extra = distance - trunc(distance / twice) * twice;
  return min(extra, twice - extra) + low;
}

// Coordinates moved into the map, unless what lies beyond is zero.
fn padded(at: vec2<f32>, size: vec2<f32>) -> vec2<f32> {
  if (padding == ZEROS) {
    return at;
  }
  var moved = at;
  if (padding == REFLECTION) {
    moved = vec2<f32>(reflected(at.x, size.x), reflected(at.y, size.y));
  }
  return clamp(moved, vec2<f32>(), size - 1.0);
}

// The element at whole coordinates (column, row) of the map that starts at `base`; 0 beyond it.
fn element(base: u32, at: vec2<f32>, size: vec2<f32>) -> f32 {
  if (!all(at >= vec2<f32>()) || !all(at <= size - 1.0)) {
    return 0.0;
  }
  return x[base + u32(at.y) * params.width + u32(at.x)];
}

fn bilinear(base: u32, at: vec2<f32>, size: vec2<f32>) -> f32 {
  let first = floor(at);
  let far = at - first;
  let near = first + 1.0 - at;
  return element(base, first, size) * near.x * near.y
    + element(base, first + vec2<f32>(1.0, 0.0), size) * far.x * near.y
    + element(base, first + vec2<f32>(0.0, 1.0), size) * near.x * far.y
    + element(base, first + 1.0, size) * far.x * far.y;
}

// Weights of the four elements around a place, t after the second.
fn cubic(t: f32) -> vec4<f32> {
  let a = -0.75;
  let outer = vec2<f32>(t + 1.0, 2.0 - t);
  let inner = vec2<f32>(t, 1.0 - t);
  let far = ((a * outer - 5.0 * a) * outer + 8.0 * a) * outer - 4.0 * a;
  let near = ((a + 2.0) * inner - (a + 3.0)) * inner * inner + 1.0;
  return vec4<f32>(far.x, near, far.y);
}

fn bicubic(base: u32, at: vec2<f32>, size: vec2<f32>) -> f32 {
  let first = floor(at);
  let columns = cubic(at.x - first.x);
  let rows = cubic(at.y - first.y);
  var sum = 0.0;
  for (var i = 0u; i < 4u; i++) {
    var row = 0.0;
    for (var j = 0u; j < 4u; j++) {
      let tap = padded(first + vec2<f32>(f32(j), f32(i)) - 1.0, size);
      row += element(base, tap, size) * columns[j];
    }
    sum += row * rows[i];
  }
  return sum;
}

fn run(i: u32) {
  if (i >= params.results) {
    return;
  }
  let map = i / params.places;
  let place = map / params.channels * params.places + i % params.places;
  let base = map * params.height * params.width;
  let size = vec2<f32>(f32(params.width), f32(params.height));
  let at = unnormalized(vec2<f32>(grid[2u * place], grid[2u * place + 1u]), size);
  if (interpolation == BICUBIC) {
    y[i] = bicubic(base, at, size);
  } else if (interpolation == NEAREST) {
    y[i] = element(base, round(padded(at, size)), size);
  } else {
    y[i] = bilinear(base, padded(at, size), size);
  }
}
