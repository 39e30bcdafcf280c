// uses threads
// Kernels that make y element by element: one thread an element of four or eight bytes, or a word of smaller elements.
// A kernel says how many `y_bytes` an element has, and what its words are: the second of use where it has eight bytes.

fn run(i: u32) {
  if (y_bytes() < 4u) {
    let bits = 8u * y_bytes();
    let first = 32u / bits * i;
    if (first < params.count) {
      var word = 0u;
      for (var lane = 0u; lane < min(32u / bits, params.count - first); lane++) {
        word = insertBits(word, element(first + lane).x, bits * lane, bits);
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
