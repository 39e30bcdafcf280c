// uses grid
// Kernels in workgroups of 128, whose threads work alone: each runs with its number. There may be more threads than work.

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  run(flat_workgroup(id, grid) * 128u + local);
}
