"""Rules for tensors in programs and in delegates alike: which shapes are valid, and what is not supported."""

from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import FormatError, Problem, shown

__all__ = ["DYNAMIC", "FLOAT16", "checked_shape"]

_MOST_DIMENSIONS = 16  # ExecuTorch's own limit

FLOAT16 = Problem("", "", "float16 is not supported: convert the model by `model.float()` before it is exported")
DYNAMIC = Problem(
    "",
    "",
    "shapes that change from run to run are not supported: export without `dynamic_shapes`, once for each shape",
)


def checked_shape(shape: tuple[int, ...], dtype: str, what: str) -> tuple[int, ...]:
    if len(shape) > _MOST_DIMENSIONS:
        raise FormatError(f"{what}: a tensor of {len(shape):,} dimensions; at most {_MOST_DIMENSIONS} are possible")
    if any(s < 0 for s in shape):
        raise FormatError(f"{what}: negative size in {shown(shape)}")
    if numel(shape) * ITEMSIZE[dtype] >= 2**63:
        raise FormatError(f"{what}: a tensor {dtype} {shown(shape)} is larger than any memory")
    return shape
