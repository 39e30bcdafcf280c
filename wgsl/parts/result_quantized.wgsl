// uses epilogue
// uses written
// Results of int8 products: int8, or what these stand for, by scales that the plan has.

fn finish(row: u32, word: u32, acc: vec4<i32>, weights: vec4<i32>) {
  write(row * params.y_stride + word, requantized(acc - params.epilogue.x_zero_point * weights, word));
}
