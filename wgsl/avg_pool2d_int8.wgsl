// uses threads
// uses maps
// uses average
// The mean of each window of a channels-last int8 map: summed in int32, scaled once; one thread a word of four channels.

struct Params {
  words: u32,
  channel_words: u32,
  factor_columns: u32,
  @align(16) maps: Maps,
  @align(16) average: Average,
  @align(16) written: Written,
}

// for each row of y, then for each column: the first row or column of x in the window, the one after the last, and the
// row or column of `factors`
@group(0) @binding(0) var<storage, read> windows: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> factors: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<i32>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  let word = index % params.channel_words;
  let at = place_in_y(index / params.channel_words);
  let rows = windows[at.row];
  let columns = windows[params.maps.y_height + at.column];
  var sum = vec4<i32>();
  for (var row = rows.x; row < rows.y; row++) {
    for (var column = columns.x; column < columns.y; column++) {
      sum += terms_of(x[pixel_of_x(at.map, row, column) * params.channel_words + word]);
    }
  }
  let terms = (rows.y - rows.x) * (columns.y - columns.x);
  let window = rows.z * params.factor_columns + columns.z;
  write(index, averaged(sum, terms, factors[window], window));
}
