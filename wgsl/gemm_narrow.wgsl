// uses gemm_groups
// Matrix products of few results: tiles of 16 rows and 32 columns, on which four groups of threads work.

const tile_rows = 16u;
const tile_columns = 32u;
