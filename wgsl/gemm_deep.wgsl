// uses gemm_groups
// Matrix products of few results, each a long sum: tiles of 16 × 16, on which eight groups of threads work.

const tile_rows = 16u;
const tile_columns = 16u;
