"""What several shape rules and limits share."""

from webq8.errors import LimitError, Unsupported
from webq8.ir.types import BadArg, Shape

__all__ = ["MAX_RANK", "MAX_TERMS", "axis", "broadcast", "check_broadcast", "check_rank", "check_terms"]

# 255·128·K, the largest sum of K products (x − zero point)·w, must fit int32
MAX_TERMS = (2**31 - 1) // (255 * 128)
MAX_RANK = 8  # of a tensor; kernels have room for so many axes


def axis(dim: int, rank: int) -> int:
    """A dim counted from the end, if negative, as an axis from 0 on; a scalar has one axis."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise BadArg(f"dim {dim} is out of range for {rank} dimensions")
    return dim % max(rank, 1)


def check_rank(shape: Shape) -> Shape:
    """Refuses tensors with more axes than kernels have room for."""
    if len(shape) > MAX_RANK:
        raise BadArg(f"{len(shape)} dimensions; at most {MAX_RANK} are supported", Unsupported)
    return shape


def check_terms(count: int, bias: int = 0) -> None:
    """Refuses sums of so many products, and a bias of up to this size, that the int32 accumulator could overflow."""
    most = MAX_TERMS if not bias else (2**31 - 1 - bias) // (255 * 128)
    if count > most:
        text = f" beside a bias of {bias}" if bias else ""
        raise BadArg(f"{count} terms an output could overflow the int32 accumulator; at most {most}{text}", LimitError)


def broadcast(*shapes: Shape) -> Shape:
    """The shape that tensors of these shapes are broadcast to."""
    rank = max(map(len, shapes))
    if rank > MAX_RANK:
        raise BadArg(f"{rank} dimensions; at most {MAX_RANK} are supported", Unsupported)
    out: list[int] = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        known = {s for s in sizes if s != 1} or {1}
        if len(known) > 1:
            raise BadArg(f"the shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast")
        out += known
    return tuple(out)


def check_broadcast(shape: Shape, target: Shape) -> None:
    """Raises BadArg where a tensor of a shape does not broadcast to another one."""
    sizes = zip(reversed(shape), reversed(target), strict=False)
    if len(shape) > len(target) or any(size not in (1, to) for size, to in sizes):
        raise BadArg(f"{list(shape)} does not broadcast to {list(target)}")
