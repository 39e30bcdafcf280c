"""Declarations of arguments that several families of operators share."""

from webq8.errors import Unsupported
from webq8.formats.pte.model import EValue
from webq8.formats.pte.schema import Int, Ints, Scalar, TensorArg, got, number
from webq8.ir.types import BadArg

__all__ = ["DIM", "DIMS", "DTYPES", "INT64", "Dtype", "NumberOrTruth", "X", "result"]

DTYPES = ("float32", "int8", "uint8", "int32", "int64", "bool")
INT64 = (-(2**63), 2**63 - 1)

X = TensorArg(DTYPES, "*S")
DIM = Int()
DIMS = Ints()


def result(like: str = "x") -> TensorArg:
    """A result of any shape, with the dtype of an argument."""
    return TensorArg(DTYPES, "*O", like=like)


class Dtype(Scalar):
    """A dtype by name. Files leave it null: the output has it."""

    def convert(self, value: EValue) -> str | None:
        if value is not None and value not in DTYPES:
            raise BadArg(f"{got(value)} is not supported; one of {', '.join(map(repr, DTYPES))} is", Unsupported)
        return value if isinstance(value, str) else None


class NumberOrTruth(Scalar):
    """A number or a truth value, for tensors of any dtype."""

    def convert(self, value: EValue) -> int | float | bool:
        number(value)
        assert isinstance(value, int | float)
        return value
