// uses threads
// uses dot4
// uses int8
// uses maps
// Each pixel between two rows and two columns of a channels-last int8 map, in fixed point; one thread a word of four
// channels.

struct Params {
  words: u32,
  channel_words: u32,
  @align(16) maps: Maps,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
// for each row of y, then for each column: two rows or columns of x, and the share of the second in 2048ths
@group(0) @binding(1) var<storage, read> taps: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// Along a row of x, times 2¹¹.
fn between(map: u32, row: u32, columns: vec4<u32>, word: u32) -> vec4<i32> {
  let first = unpack(x[pixel_of_x(map, row, columns.x) * params.channel_words + word]);
  let second = unpack(x[pixel_of_x(map, row, columns.y) * params.channel_words + word]);
  return first * 2048 + (second - first) * i32(columns.z);
}

fn run(index: u32) {
  if (index >= params.words) {
    return;
  }
  let word = index % params.channel_words;
  let at = place_in_y(index / params.channel_words);
  let rows = taps[at.row];
  let columns = taps[params.maps.y_height + at.column];
  let upper = between(at.map, rows.x, columns, word);
  let lower = between(at.map, rows.y, columns, word);
  y[index] = pack((upper * 2048 + (lower - upper) * i32(rows.z) + 0x200000) >> vec4<u32>(22u));
}
