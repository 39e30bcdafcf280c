// `lanes` neighbouring threads of a workgroup combine what each has found: half of them with the other half, again and
// again. A kernel says what a Partial is, and how two of them are `combined`.

var<workgroup> partials: array<Partial, 64>;

// What the lanes of a result have found together, for the first of them. Comes first, or not at all.
fn reduced(found: Partial, local: u32) -> Partial {
  partials[local] = found;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local % lanes < half) {
      partials[local] = combined(partials[local], partials[local + half]);
    }
  }
  return partials[local];
}

// The same for each of them; may come again and again.
fn reduced_for_all(found: Partial, local: u32) -> Partial {
  workgroupBarrier();  // what was reduced before has been read
  _ = reduced(found, local);
  workgroupBarrier();
  return partials[local - local % lanes];
}
