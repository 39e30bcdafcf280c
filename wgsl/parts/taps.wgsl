// uses window
// Taps of a convolution, or of a transposed one in gather form.

override transposed: bool = false;

// The row or column of x that a tap takes, negative for none.
fn source(out: u32, tap: u32, stride: u32, pad: u32, dilation: u32, size: u32) -> i32 {
  if (transposed) {
    let reach = i32(out + pad) - i32(tap * dilation);
    let at = reach / i32(stride);
    return select(-1, at, reach >= 0 && reach % i32(stride) == 0 && at < i32(size));
  }
  let at = i32(out * stride + tap * dilation) - i32(pad);
  return select(-1, at, at < i32(size));
}

fn source_row(row: u32, tap: u32) -> i32 {
  return source(
    row, tap, params.window.stride_height, params.window.pad_height, params.window.dilation_height, params.maps.x_height);
}

fn source_column(column: u32, tap: u32) -> i32 {
  return source(
    column, tap, params.window.stride_width, params.window.pad_width, params.window.dilation_width, params.maps.x_width);
}
