// The planner folds a flat count of workgroups into a grid, since an axis of it ends at 65,535.

fn flat_workgroup(id: vec3<u32>, grid: vec3<u32>) -> u32 {
  return id.x + id.y * grid.x;
}
