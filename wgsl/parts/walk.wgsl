// A walk through up to eight dimensions: each of `params.axes` is a size and the strides in as many tensors as Offset has
// places for; the innermost comes first.

// How far `index` has come in each tensor, along `rank` axes from `first` on.
fn walk(index: u32, first: u32, rank: u32) -> Offset {
  var at = Offset();
  var rest = index;
  for (var d = first; d < first + rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * strides_of(axis);
    rest /= axis.x;
  }
  return at;
}
