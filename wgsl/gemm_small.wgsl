// uses gemm_groups
// Matrix products of too few results for tiles of gemm.wgsl: tiles of 32 × 32, on which two groups of threads work.

const tile_rows = 32u;
const tile_columns = 32u;
