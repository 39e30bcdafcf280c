// uses maps
// Windows of x, of which each pixel of y has one.

struct Window {
  kernel_height: u32,
  kernel_width: u32,
  stride_height: u32,
  stride_width: u32,
  pad_height: u32,
  pad_width: u32,
  dilation_height: u32,
  dilation_width: u32,
}

// The row or column of x that the first tap takes; negative in the padding before the map.
fn first_row(row: u32) -> i32 {
  return i32(row * params.window.stride_height) - i32(params.window.pad_height);
}

fn first_column(column: u32) -> i32 {
  return i32(column * params.window.stride_width) - i32(params.window.pad_width);
}

// How many rows or columns a tap lies from the first one.
fn tap_row(tap: u32) -> i32 {
  return i32(tap * params.window.dilation_height);
}

fn tap_column(tap: u32) -> i32 {
  return i32(tap * params.window.dilation_width);
}

fn is_row(row: i32) -> bool {
  return row >= 0 && row < i32(params.maps.x_height);
}

fn is_column(column: i32) -> bool {
  return column >= 0 && column < i32(params.maps.x_width);
}
