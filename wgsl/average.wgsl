// Shared by means of int8. `looked_up`: the terms are a function of x, as whole numbers in a table of 256 entries.

override looked_up: bool = false;

fn terms_of(word: u32) -> vec4<i32> {
  let v = unpack(word);
  if (looked_up) {
    let at = v + 128;
    return vec4<i32>(table[at.x], table[at.y], table[at.z], table[at.w]);
  }
  return v;
}

// Sums to int8. Halves of a sum are exact in float32, and one addition rounds them: conversions may round as they like.
fn averaged(sum: vec4<i32>, factor: f32) -> u32 {
  let nearest = vec4<f32>(sum >> vec4<u32>(12u)) * 4096.0 + vec4<f32>(sum & vec4<i32>(4095));
  return pack(rounded(nearest * factor, params.y_zero_point, params.y_min, params.y_max));
}
