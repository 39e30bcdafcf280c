// Shared by every kernel. The planner folds a flat count of workgroups into a grid, since an axis ends at 65,535.

fn flat_workgroup(id: vec3<u32>, grid: vec3<u32>) -> u32 {
  return id.x + id.y * grid.x;
}

fn unpack(word: u32) -> vec4<i32> {
  let w = vec4<i32>(bitcast<i32>(word));
  return (w << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn pack(q: vec4<i32>) -> u32 {
  let b = vec4<u32>(q & vec4<i32>(255)) << vec4<u32>(0u, 8u, 16u, 24u);
  return b.x | b.y | b.z | b.w;
}

// Products of 16 int8 pairs, summed.
fn dot16(a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4(a.x, b.x) + dot4(a.y, b.y) + dot4(a.z, b.z) + dot4(a.w, b.w);
}

// Four accumulators to four int8. The clamp comes before the conversion: f32 to i32 saturates, so a zero point added
// after it could wrap.
fn requantize(
  acc: vec4<i32>, x_scale: f32, w_scale: vec4<f32>, bias: vec4<f32>, activation_min: f32, inv_y_scale: f32, y_zero_point: i32
) -> u32 {
  let v = max(vec4<f32>(acc) * x_scale * w_scale + bias, vec4<f32>(activation_min));
  let q = round(v * inv_y_scale) + f32(y_zero_point);
  return pack(vec4<i32>(clamp(q, vec4<f32>(-128.0), vec4<f32>(127.0))));
}
