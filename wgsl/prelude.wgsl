// Shared by every kernel. The planner folds a flat count of workgroups into a grid, since an axis ends at 65,535.

fn flat_workgroup(id: vec3<u32>, grid: vec3<u32>) -> u32 {
  return id.x + id.y * grid.x;
}

// The place of a flat index in up to four dimensions of any strides, innermost first; unused sizes are 1.
fn strided(index: u32, sizes: vec4<u32>, strides: vec4<u32>) -> u32 {
  let y = index / sizes.x;
  let z = y / sizes.y;
  let w = z / sizes.z;
  return dot(vec4<u32>(index, y, z, w) % sizes, strides);
}

// Told by its bits: a compiler may assume that there is no NaN.
fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

const RANK_OF_NAN: i32 = 0x7fffffff;

// Compares as the float does, ±0 alike, but NaN ranks above all.
fn rank(v: f32) -> i32 {
  let magnitude = bitcast<i32>(v) & 0x7fffffff;
  return select(select(magnitude, -magnitude, bitcast<i32>(v) < 0), RANK_OF_NAN, is_nan(v));
}

// Four int8 as float32, times 2²⁴: what SwiftShader does fast, as it shifts one lane after another. Products of two such
// numbers are whole multiples of 2⁴⁸, and sums of up to 1,024 of them exact; `NARROWED` takes that factor away.
const NARROWED: f32 = 0x1p-48f;

fn widened(word: u32) -> vec4<f32> {
  let top = vec4<i32>(bitcast<i32>(word)) * vec4<i32>(0x1000000, 0x10000, 0x100, 1);
  return vec4<f32>(top & vec4<i32>(bitcast<i32>(0xff000000u)));
}

fn widened4(a: u32, b: u32, c: u32, d: u32) -> mat4x4<f32> {
  return mat4x4<f32>(widened(a), widened(b), widened(c), widened(d));
}

fn pack(q: vec4<i32>) -> u32 {
  let b = vec4<u32>(q & vec4<i32>(255)) * vec4<u32>(1u, 0x100u, 0x10000u, 0x1000000u);
  return b.x | b.y | b.z | b.w;
}

// Rounded half to even, with the zero point, within bounds: clamp(round(v) + zero_point, low, high). Bounds are whole
// numbers, so the clamp can come first; then adding 1.5 · 2²³ rounds, and leaves the result in the low bits. Converting
// would take longer, and must not come before the clamp: f32 to i32 saturates, so a zero point added after it could wrap.
fn rounded(v: vec4<f32>, zero_point: i32, low: f32, high: f32) -> vec4<i32> {
  let bounded = clamp(v, vec4<f32>(low - f32(zero_point)), vec4<f32>(high - f32(zero_point)));
  return bitcast<vec4<i32>>(bounded + 0x1.8p23f) + (zero_point - 0x4b400000);
}

// Four accumulators to four int8.
fn requantize(
  acc: vec4<i32>, x_scale: f32, w_scale: vec4<f32>, bias: vec4<f32>, activation_min: f32, inv_y_scale: f32,
  y_zero_point: i32, y_min: f32, y_max: f32
) -> u32 {
  let v = max(vec4<f32>(acc) * x_scale * w_scale + bias, vec4<f32>(activation_min));
  return pack(rounded(v * inv_y_scale, y_zero_point, y_min, y_max));
}
