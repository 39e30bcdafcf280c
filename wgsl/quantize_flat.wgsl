// uses threads_128
// uses scaled
// uses int8
// float32 to int8 where both lie in the same order without gaps; one thread 16 elements.

struct Params {
  groups: u32,
  scale: f32,
  inv_scale: f32,
  zero_point: i32,
  qmin: i32,
  qmax: i32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

fn quantize(bits: vec4<u32>) -> u32 {
  var v = bitcast<vec4<f32>>(bits) * params.inv_scale;
  if (divides) {
    for (var lane = 0u; lane < 4u; lane++) {
      v[lane] = scaled(bits[lane], params.scale, params.inv_scale);
    }
  }
  let bounded = rounded(v, params.zero_point, f32(params.qmin), f32(params.qmax));
  let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(INFINITY_BITS);
  return pack(select(bounded, vec4<i32>(params.zero_point), nan));
}

fn run(i: u32) {
  if (i < params.groups) {
    y[i] = vec4<u32>(quantize(x[4u * i]), quantize(x[4u * i + 1u]), quantize(x[4u * i + 2u]), quantize(x[4u * i + 3u]));
  }
}
