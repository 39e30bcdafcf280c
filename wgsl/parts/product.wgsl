// Products of float32 matrices, x [m, k] · w [k, n], to which an addend may be added.

struct Product {
  m: u32,
  n: u32,
  k: u32,
  w_k_stride: u32,
  w_n_stride: u32,
  addend_m_stride: u32,
  addend_n_stride: u32,
  alpha: f32,
  beta: f32,
}

// A result, once its terms are summed.
fn finished(sum: f32, row: u32, column: u32) -> f32 {
  var v = params.product.alpha * sum;
  if (params.product.beta != 0.0) {
    v += params.product.beta * addend[row * params.product.addend_m_stride + column * params.product.addend_n_stride];
  }
  return v;
}
