// Rising functions of integers to 256 values, by the 255 integers, in ascending order, at which they step up.

// How many of the steps from `first` on in `table` a number reaches.
fn steps_reached(v: i32, first: u32) -> i32 {
  var count = 0u;
  for (var half = 128u; half > 0u; half /= 2u) {
    count += select(0u, half, v >= table[first + count + half - 1u]);
  }
  return i32(count);
}
