// uses workgroups_128
// uses dot4
// int8 to float32 where both lie in the same order without gaps; a thread takes twice 4 elements, so that neighbouring
// threads write side by side.

struct Params {
  words: u32,
  scale: f32,
  zero_point: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(workgroup: u32, local: u32) {
  let i = workgroup * 256u + local;
  let j = i + 128u;
  if (j < params.words) {
    let a = x[i];
    let b = x[j];
    y[i] = vec4<f32>(unpack(a) - params.zero_point) * params.scale;
    y[j] = vec4<f32>(unpack(b) - params.zero_point) * params.scale;
  } else if (i < params.words) {
    y[i] = vec4<f32>(unpack(x[i]) - params.zero_point) * params.scale;
  }
}
