"""ExecuTorch's operators, one module a family: the only place with their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.operators import average, linear, norm, pool, reduce, resize, sample, sort
from webq8.formats.pte.schema import OVERLOADS

__all__ = ["OVERLOADS", "average", "linear", "norm", "pool", "reduce", "resize", "sample", "sort"]
