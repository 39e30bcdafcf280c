// uses threads
// uses steps
// Integers as others: bytes through a table of 256 numbers, larger ones as bytes by 255 steps; one thread a word of y.

override x_size: u32 = 1u;
override y_size: u32 = 1u;

struct Params {
  count: u32,
  x_least: i32,
  y_least: i32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn result(i: u32) -> i32 {
  let word = x[i * x_size / 4u];
  switch x_size {
    case 1u: {
      return table[(extractBits(word, i % 4u * 8u, 8u) - u32(params.x_least)) & 255u];
    }
    case 2u: {
      return params.y_least + steps_reached(extractBits(bitcast<i32>(word), i % 2u * 16u, 16u), 0u);
    }
    default: {
      return params.y_least + steps_reached(bitcast<i32>(word), 0u);
    }
  }
}

fn run(word: u32) {
  let each = 4u / y_size;
  let first = word * each;
  if (first >= params.count) {
    return;
  }
  if (y_size == 4u) {
    y[word] = u32(result(word));
    return;
  }
  var out = 0u;
  for (var k = 0u; k < min(each, params.count - first); k++) {
    out = insertBits(out, u32(result(first + k)), k * y_size * 8u, y_size * 8u);
  }
  y[word] = out;
}
