// uses walk

alias Offset = u32;

fn strides_of(axis: vec4<u32>) -> Offset {
  return axis.y;
}
