// A walk through up to eight dimensions of up to three tensors at once: each of `params.axes` is a size and the stride in
// each tensor; the innermost comes first.

// How far `index` has come in each of three tensors, along `rank` axes from `first` on.
fn walk(index: u32, first: u32, rank: u32) -> vec3<u32> {
  var at = vec3<u32>();
  var rest = index;
  for (var d = first; d < first + rank; d++) {
    let axis = params.axes[d];
    at += rest % axis.x * axis.yzw;
    rest /= axis.x;
  }
  return at;
}
