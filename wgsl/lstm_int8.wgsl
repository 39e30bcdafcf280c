// uses lanes
// uses dot4
// uses int8
// uses fixed_point
// A long short-term memory of int8 by one workgroup, which goes through all steps of each sequence; a thread has every
// 64th cell.

struct Params {
  batch: u32,
  steps: u32,
  batch_stride: u32,  // how many rows of x and y are from a sequence to the next one
  step_stride: u32,   // and from a step
  cells: u32,
  input_words: u32,
  x_row: u32,
  y_row: u32,
  zero_point: i32,
  cell_exponent: i32,
  clip: i32,
  @align(16) hidden: Multiplier,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> old_h: array<u32>;
@group(0) @binding(2) var<storage, read> old_c: array<u32>;
// of each gate the rows of its cells for x; then all those for h
@group(0) @binding(3) var<storage, read> weights: array<u32>;
// biases of the gates' cells for x, then for h; then the multipliers of the gates for x and for h
@group(0) @binding(4) var<storage, read> numbers: array<i32>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<storage, read_write> h: array<u32>;
@group(0) @binding(7) var<storage, read_write> c: array<u32>;
@group(0) @binding(8) var<uniform> params: Params;

var<workgroup> hidden: array<u32, 256>;  // four int8 a word
var<workgroup> next: array<i32, 1024>;
var<workgroup> cell_state: array<i32, 1024>;

fn multiplier(gate: u32) -> Multiplier {
  let at = 8u * params.cells + 2u * gate;
  return Multiplier(numbers[at], numbers[at + 1u]);
}

// What a gate lets through, before its function.
fn gate_of(gate: u32, cell: u32, row: u32) -> i32 {
  let at = gate * params.cells + cell;
  var sum = numbers[at];
  for (var i = 0u; i < params.input_words; i++) {
    sum += dot(unpack(x[row + i]), unpack(weights[at * params.input_words + i]));
  }
  let from_x = short(scaled(sum, multiplier(gate)));
  let words = (params.cells + 3u) / 4u;
  let first = 4u * params.cells * params.input_words + at * words;
  sum = numbers[4u * params.cells + at];
  for (var i = 0u; i < words; i++) {
    sum += dot(unpack(hidden[i]), unpack(weights[first + i]));
  }
  return short(scaled(sum, multiplier(4u + gate)) + from_x);
}

fn step(cell: u32, row: u32) {
  let input = sigmoid_short(gate_of(0u, cell, row));
  let forget = sigmoid_short(gate_of(1u, cell, row));
  let candidate = tanh_short(gate_of(2u, cell, row), 3u);
  let output = sigmoid_short(gate_of(3u, cell, row));
  let kept = shifted_down(forget * cell_state[cell], 15u);
  let new_part = shifted_down(input * candidate, u32(30 + params.cell_exponent));
  let state = clamp(short(kept + new_part), -params.clip, params.clip);
  cell_state[cell] = state;
  let shown = output * tanh_short(state, u32(15 + params.cell_exponent));
  next[cell] = clamp(scaled(shown, params.hidden) + params.zero_point, -128, 127);
}

fn word_of_next(word: u32) -> u32 {
  var q = vec4<i32>();
  for (var k = 0u; k < min(4u, params.cells - 4u * word); k++) {
    q[k] = next[4u * word + k];
  }
  return pack(q);
}

fn run(group: u32, local: u32) {
  let words = (params.cells + 3u) / 4u;
  for (var sequence = 0u; sequence < params.batch; sequence++) {
    for (var i = local; i < words; i += 64u) {
      hidden[i] = old_h[sequence * params.y_row + i];
    }
    for (var i = local; i < params.cells; i += 64u) {
      let at = sequence * params.cells + i;
      cell_state[i] = extractBits(bitcast<i32>(old_c[at / 2u]), at % 2u * 16u, 16u);
    }
    workgroupBarrier();
    for (var t = 0u; t < params.steps; t++) {
      let row = sequence * params.batch_stride + t * params.step_stride;
      for (var cell = local; cell < params.cells; cell += 64u) {
        step(cell, row * params.x_row);
      }
      workgroupBarrier();
      for (var i = local; i < words; i += 64u) {
        hidden[i] = word_of_next(i);
        if (group == 0u) {
          y[row * params.y_row + i] = hidden[i];
        }
      }
      workgroupBarrier();
    }
    for (var i = local; i < words && group == 0u; i += 64u) {
      h[sequence * params.y_row + i] = hidden[i];
    }
    for (var i = local; 2u * i < params.cells && group == 0u; i += 64u) {
      let second = select(cell_state[2u * i + 1u], 0, 2u * i + 1u >= params.cells);
      c[(sequence * params.cells) / 2u + i] = (u32(cell_state[2u * i]) & 0xffffu) | (u32(second) << 16u);
    }
    workgroupBarrier();
  }
}
