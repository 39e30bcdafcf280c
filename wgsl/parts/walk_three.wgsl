// uses walk

alias Offset = vec3<u32>;

fn strides_of(axis: vec4<u32>) -> Offset {
  return axis.yzw;
}
