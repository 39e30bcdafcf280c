// The bits of a normal float64, low word first, as those of the nearest float32.
fn narrowed64(low: u32, high: u32) -> u32 {
  let exponent = i32((high >> 20u) & 0x7ffu) - 896;
  if (exponent <= 0) {
    return high & 0x80000000u;
  }
  if (exponent >= 255) {
    return (high & 0x80000000u) | 0x7f800000u;
  }
  let kept = (u32(exponent) << 23u) | ((high & 0xfffffu) << 3u) | (low >> 29u);
  let lost = low & 0x1fffffffu;
  let up = u32(lost > 0x10000000u || (lost == 0x10000000u && (kept & 1u) == 1u));
  return (kept + up) | (high & 0x80000000u);
}
