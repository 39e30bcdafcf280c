"""The tables of op cases: one row a case, run through `webq8.ops` on the GPU and against the reference.

A row is an op (an overload without a short name by its full one), a name, and arguments in the order of its schema.
"""

from cases.average import AVERAGE_CASES
from cases.common import Case
from cases.conv_float import CONV_FLOAT_CASES
from cases.elementwise import ELEMENTWISE_CASES
from cases.goldens import GOLDEN_CASES, TORCH_GOLDENS
from cases.indexing import INDEXING_CASES
from cases.int8 import INT8_CASES
from cases.matmul import MATMUL_CASES
from cases.norm import NORM_CASES
from cases.pool import POOL_CASES
from cases.quant import QUANT_CASES
from cases.reduce import REDUCE_CASES
from cases.sample import SAMPLE_CASES
from cases.shape import SHAPE_CASES
from cases.sort import SORT_CASES
from cases.upsample import UPSAMPLE_CASES

__all__ = ["CASES", "INT8_CASES", "TORCH_GOLDENS", "Case"]

CASES = [
    *INT8_CASES,
    *QUANT_CASES,
    *AVERAGE_CASES,
    *CONV_FLOAT_CASES,
    *MATMUL_CASES,
    *NORM_CASES,
    *POOL_CASES,
    *REDUCE_CASES,
    *SAMPLE_CASES,
    *SORT_CASES,
    *UPSAMPLE_CASES,
    *ELEMENTWISE_CASES,
    *SHAPE_CASES,
    *INDEXING_CASES,
    *GOLDEN_CASES,
]
