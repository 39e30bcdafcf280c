// uses dot4
// uses int8
// Means of int8. `looked_up`: the terms are a function of x, as whole numbers in a table of 256 entries.

override looked_up: bool = false;

struct Average {
  x_zero_point: i32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
}

fn terms_of(word: u32) -> vec4<i32> {
  let v = unpack(word);
  if (looked_up) {
    let at = v + 128;
    return vec4<i32>(table[at.x], table[at.y], table[at.z], table[at.w]);
  }
  return v;
}

// Means of so many terms, from their sums. A sum is converted in two parts, each exact in float32, which one addition
// rounds: a device may round a conversion as it likes.
fn averaged(sum: vec4<i32>, terms: u32, factor: f32) -> u32 {
  let centered = sum - i32(terms) * params.average.x_zero_point;
  let nearest = vec4<f32>(centered >> vec4<u32>(12u)) * 4096.0 + vec4<f32>(centered & vec4<i32>(4095));
  return pack(rounded(nearest * factor, params.average.y_zero_point, params.average.y_min, params.average.y_max));
}
