// q8ta_add of tensors whose shapes broadcast; one thread a word of y.

struct Params {
  words: u32,
  channels: u32,
  inner: u32,
  channel_words: u32,
  rank: u32,
  sizes: array<vec4<u32>, 2>,
  a_places: array<vec4<u32>, 2>,
  b_places: array<vec4<u32>, 2>,
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

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn add(p: vec4<i32>, q: vec4<i32>) -> u32 {
  let v = vec4<f32>(p - params.a_zero_point) * params.a_scale + params.alpha * (vec4<f32>(q - params.b_zero_point) * params.b_scale);
  return pack(rounded(v * params.inv_y_scale, params.y_zero_point, params.y_min, params.y_max));
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  let word = flat_workgroup(id, grid) * 64u + local;
  if (word >= params.words) {
    return;
  }
  let channel = word % params.channel_words * 4u;
  let pixel = word / params.channel_words;
  let first = (pixel / params.inner * params.channels + channel) * params.inner + pixel % params.inner;
  var p = vec4<i32>();
  var q = vec4<i32>();
  for (var lane = 0u; lane < min(4u, params.channels - min(channel, params.channels)); lane++) {
    var rest = first + lane * params.inner;
    var at_a = 0u;
    var at_b = 0u;
    for (var axis = 0u; axis < params.rank; axis++) {
      let size = params.sizes[axis / 4u][axis % 4u];
      at_a += rest % size * params.a_places[axis / 4u][axis % 4u];
      at_b += rest % size * params.b_places[axis / 4u][axis % 4u];
      rest /= size;
    }
    p[lane] = unpack(a[at_a / 4u])[at_a % 4u];
    q[lane] = unpack(b[at_b / 4u])[at_b % 4u];
  }
  y[word] = add(p, q);
}
