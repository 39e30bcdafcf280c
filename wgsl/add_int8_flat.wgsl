// q8ta_add of tensors of one shape and layout; one thread 16 elements.

struct Params {
  groups: u32,
  a_zero_point: i32,
  a_scale: f32,
  b_zero_point: i32,
  b_scale: f32,
  alpha: f32,
  inv_y_scale: f32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

fn add(p: u32, q: u32) -> u32 {
  let v = vec4<f32>(unpack(p) - params.a_zero_point) * params.a_scale
    + params.alpha * (vec4<f32>(unpack(q) - params.b_zero_point) * params.b_scale);
  return pack(rounded(v * params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max));
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let i = flat_workgroup(id, grid) * 128u + local;
  if (i < params.groups) {
    let p = a[i];
    let q = b[i];
    y[i] = vec4<u32>(add(p.x, q.x), add(p.y, q.y), add(p.z, q.z), add(p.w, q.w));
  }
}
