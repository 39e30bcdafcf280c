// What a search for an element of x writes: the element, or where it stands.

override index: bool = false;  // write where it stands, as int32
override wide: bool = false;   // or as int64

fn store(result: u32, element: u32, at: u32) {
  if (!index) {
    y[result] = element;
  } else if (wide) {
    y[2u * result] = at;
    y[2u * result + 1u] = 0u;
  } else {
    y[result] = at;
  }
}
