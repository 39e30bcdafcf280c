"""Every op computed from the arguments of its call, in numpy alone.

It is written from the definitions (torch's documentation, the README's section on numbers) and imports nothing of the
package, so that both would have to be wrong in the same way for an error to pass.
"""

from typing import Any

import numpy as np

from oracle import (  # noqa: F401
    average,
    convolution,
    elementwise,
    indexing,
    int8,
    matmul,
    norm,
    pool,
    quant,
    reduce,
    sample,
    shape,
    sort,
    upsample,
)
from oracle.core import ORACLE

__all__ = ["ORACLE", "expected"]


def expected(op: str, args: tuple[Any, ...]) -> list[np.ndarray]:
    """All results of an op, by its short name or the full one of an overload."""
    with np.errstate(all="ignore"):
        result = ORACLE[op](*args)
    return list(result) if isinstance(result, tuple) else [result]
