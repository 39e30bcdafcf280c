// uses epilogue
// uses written
// uses float64
// Results of int8 products: float32, by a scale and a zero point for each row of x, or for all, which the run computes.

override scale_words: u32 = 0u;  // from that of a row to that of the next; 0 where all have one
override zero_point_words: u32 = 0u;
override wide_scales: bool = false;  // float64

@group(0) @binding(6) var<storage, read> x_scales: array<u32>;
@group(0) @binding(7) var<storage, read> x_zero_points: array<i32>;

fn finish(row: u32, word: u32, acc: vec4<i32>, weights: vec4<i32>) {
  let at = row * scale_words;
  var scale = x_scales[at];
  if (wide_scales) {
    scale = narrowed64(x_scales[at], x_scales[at + 1u]);
  }
  let sums = vec4<f32>(acc - x_zero_points[row * zero_point_words] * weights);
  let v = sums * bitcast<f32>(scale) * bitcast<vec4<f32>>(channel[2u * word]) + bitcast<vec4<f32>>(channel[2u * word + 1u]);
  let first = 4u * word;
  for (var lane = 0u; lane < min(4u, params.y_stride - min(first, params.y_stride)); lane++) {
    y[row * params.y_stride + first + lane] = bitcast<u32>(v[lane]);
  }
}
