// uses grid
// Kernels in workgroups of 128, whose threads work together: each runs with the number of its workgroup, and its own within
// that. There may be more workgroups than work.

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  run(flat_workgroup(id, grid), local);
}
