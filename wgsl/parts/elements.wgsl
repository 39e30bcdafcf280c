// uses threads
// Kernels that make y element by element: one thread an element of four or eight bytes, or a word of four 1-byte elements.
// A kernel says how many `y_bytes` an element has, and what its words are: the second of use where it has eight bytes.

fn run(i: u32) {
  if (y_bytes() == 1u) {
    if (i < (params.count + 3u) / 4u) {
      var word = 0u;
      for (var lane = 0u; lane < min(4u, params.count - 4u * i); lane++) {
        word = insertBits(word, element(4u * i + lane).x, 8u * lane, 8u);
      }
      y[i] = word;
    }
    return;
  }
  if (i < params.count) {
    let words = element(i);
    if (y_bytes() == 8u) {
      y[2u * i] = words.x;
      y[2u * i + 1u] = words.y;
    } else {
      y[i] = words.x;
    }
  }
}
