"""The tables of op cases: one row a case, run through `webq8.ops` on the GPU and against the reference.

A row is an op, a name, and its arguments in the order of the schema.
"""

from cases.common import Case
from cases.int8 import INT8_CASES

__all__ = ["CASES", "INT8_CASES", "Case"]

CASES = [*INT8_CASES]
