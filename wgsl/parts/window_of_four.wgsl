// uses window
// Windows of four neighbouring pixels of y at a time. Those beyond the last pixel of all repeat it.

struct FourWindows {
  map: vec4<u32>,
  top: vec4<i32>,
  left: vec4<i32>,
}

fn four_windows(pixel: u32) -> FourWindows {
  let pixels = min(vec4<u32>(pixel) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.pixels - 1u));
  let rows = pixels / params.maps.y_width;
  return FourWindows(
    rows / params.maps.y_height,
    vec4<i32>(rows % params.maps.y_height * params.window.stride_height) - i32(params.window.pad_height),
    vec4<i32>(pixels % params.maps.y_width * params.window.stride_width) - i32(params.window.pad_width));
}

fn are_rows(rows: vec4<i32>) -> vec4<bool> {
  return (rows >= vec4<i32>(0)) & (rows < vec4<i32>(i32(params.maps.x_height)));
}

fn are_columns(columns: vec4<i32>) -> vec4<bool> {
  return (columns >= vec4<i32>(0)) & (columns < vec4<i32>(i32(params.maps.x_width)));
}

// The numbers of the pixels with which rows of x begin.
fn lines_of_x(map: vec4<u32>, rows: vec4<i32>) -> vec4<u32> {
  return (map * params.maps.x_height + vec4<u32>(rows)) * params.maps.x_width;
}
