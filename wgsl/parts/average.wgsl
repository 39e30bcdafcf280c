// uses dot4
// uses int8
// uses steps
// uses through
// uses written
// Means of int8. `looked_up`: the terms are a function of x, as whole numbers in a table of 256 entries. `stepped`: a
// result is −128 and how many of 255 steps in the table the sum reaches.

override looked_up: bool = false;
override stepped: bool = false;

struct Average {
  x_zero_point: i32,
  y_zero_point: i32,
  y_min: f32,
  y_max: f32,
  through: u32,  // where in `table` the words of a table of results begin, if results go through one
}

fn table_word(i: u32) -> u32 {
  return u32(table[params.average.through + i]);
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
// Steps are those from `stairs` · 255 on.
fn averaged(sum: vec4<i32>, terms: u32, factor: f32, stairs: u32) -> u32 {
  if (stepped) {
    let first = 255u * stairs;
    let reached = vec4<i32>(
      steps_reached(sum.x, first), steps_reached(sum.y, first), steps_reached(sum.z, first), steps_reached(sum.w, first));
    return through(pack(clamp(reached - 128, vec4<i32>(i32(params.average.y_min)), vec4<i32>(i32(params.average.y_max)))));
  }
  let centered = sum - i32(terms) * params.average.x_zero_point;
  let nearest = vec4<f32>(centered >> vec4<u32>(12u)) * 4096.0 + vec4<f32>(centered & vec4<i32>(4095));
  return through(pack(
    rounded(nearest * factor, params.average.y_zero_point, params.average.y_min, params.average.y_max)));
}
