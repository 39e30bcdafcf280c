// Maps, one after another, of pixels in rows and columns. A pixel is one element; of channels-last maps it is all channels.

struct Maps {
  y_height: u32,
  y_width: u32,
  x_height: u32,
  x_width: u32,
}

struct Place {
  map: u32,
  row: u32,
  column: u32,
}

fn place_in_y(pixel: u32) -> Place {
  let row = pixel / params.maps.y_width;
  return Place(row / params.maps.y_height, row % params.maps.y_height, pixel % params.maps.y_width);
}

fn pixel_of_x(map: u32, row: u32, column: u32) -> u32 {
  return (map * params.maps.x_height + row) * params.maps.x_width + column;
}
