// uses lanes
// uses tree
// Reductions over any dimensions of x: those that are kept number the results, those that are reduced the terms of each.

// Up to four dimensions, the innermost first; unused sizes are 1.
struct Axes {
  sizes: vec4<u32>,
  strides: vec4<u32>,
}

fn strided(index: u32, axes: Axes) -> u32 {
  let y = index / axes.sizes.x;
  let z = y / axes.sizes.y;
  let w = z / axes.sizes.z;
  return dot(vec4<u32>(index, y, z, w) % axes.sizes, axes.strides);
}

// Where the terms of a result begin in x.
fn first_term(result: u32) -> u32 {
  return strided(result, params.kept);
}

// How far from the first a term stands.
fn term(number: u32) -> u32 {
  return strided(number, params.reduced);
}
