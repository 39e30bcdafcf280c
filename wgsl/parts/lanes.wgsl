// uses grid
// Kernels in which `lanes` neighbouring threads, up to a workgroup, share a result: each runs with the result's number and
// its own within the workgroup. There may be more threads than results need.

override lanes: u32 = 1u;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) local: u32
) {
  run(flat_workgroup(id, grid) * (64u / lanes) + local / lanes, local);
}
