// Words of four int8 through a table of 256 bytes, whose words `table_word` gives.

override through_table: bool = false;

// The table's byte for the lowest byte of a word.
fn entry(bits: u32) -> u32 {
  let at = (bits & 255u) ^ 128u;
  return (table_word(at / 4u) >> (at % 4u * 8u)) & 255u;
}

fn looked_up_word(word: u32) -> u32 {
  return entry(word) | (entry(word >> 8u) << 8u) | (entry(word >> 16u) << 16u) | (entry(word >> 24u) << 24u);
}

// A result as it is, or looked up.
fn through(word: u32) -> u32 {
  if (through_table) {
    return looked_up_word(word);
  }
  return word;
}
