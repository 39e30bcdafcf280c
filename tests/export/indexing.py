"""Makes tests/data/goldens_glue/indexing: ops that read and write where indices say, and what stands beside them in
real models, once as kernel calls and once with a delegate, with what torch gives; in the format of upstream's goldens.

python tests/export/indexing.py
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as everyone does
from kernel_calls import rows, write_manifest
from torch import Tensor

TARGET = Path(__file__).parents[1] / "data" / "goldens_glue" / "indexing"
aten = torch.ops.aten

ROWS = torch.tensor([3, 0, -1, 2, 3])
COLUMNS = torch.tensor([[4], [-5]])
PLANES = torch.tensor([2, -3, 0, 1, 2])


def values(dtype: torch.dtype, *shape: int) -> Tensor:
    if dtype == torch.float32:
        return torch.randn(shape)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    return torch.randint(-100, 100, shape, dtype=dtype)


class Constants(torch.nn.Module):
    """Constant indices; one of its own for each use, as the partitioner wants."""

    def __init__(self) -> None:
        super().__init__()
        for n, index in enumerate((ROWS, COLUMNS, ROWS, PLANES, ROWS[:2], COLUMNS, ROWS)):
            self.register_buffer(f"i{n}", index.clone())

    def forward(self, x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        return x[self.i0], x[:, self.i1], x[self.i2, :, self.i3], b[self.i4, self.i5], b[self.i6]


def computed(x: Tensor, b: Tensor, i: Tensor, j: Tensor, k: Tensor) -> tuple[Tensor, ...]:
    narrow = j.to(torch.int32)
    return (
        x[i],
        x[:, narrow],
        x[i, :, k],
        x[i[:2], j, 1],
        b[i[:2], j],
        b[:, j[0]],
        b.long()[i],
        b.bool()[:, narrow],
    )


def selected(x: Tensor, b: Tensor, i: Tensor, row: Tensor, column: Tensor, planes: Tensor) -> tuple[Tensor, ...]:
    return x.index_select(0, i), b.index_select(-1, i), x.gather(1, planes), b.gather(0, row), F.embedding(column, b)


def put(x: Tensor, b: Tensor, i: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    return (
        x.index_put((i,), v),
        x.index_put((i,), v, accumulate=True),
        b.index_put((i, i), b[0]),
        b.index_put((i, i), b[0], accumulate=True),
        aten.index_put(x, [None, None, k], v[0, 0, 0]),
        x.index_put((mask,), v[0, 0, 1]),
        b.index_put((mask[:, 0],), b[1], accumulate=True),
        aten.index_put(b, [None, mask[0]], b[:, :1]),
    )


def scattered(x: Tensor, b: Tensor, i: Tensor, row: Tensor, column: Tensor, planes: Tensor) -> tuple[Tensor, ...]:
    return (
        x.scatter(1, planes, x * 2),
        b.scatter(0, row, b),
        b.scatter(1, column, 7),
        x.scatter_add(1, planes, x),
        b.scatter_add(0, row, b),
    )


def sliced(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return (
        x.slice_scatter(x[:, 1:3] * 2, 1, -3, -1),
        x.slice_scatter(x[:2], 0, 1, 4, 2),
        b.slice_scatter(b[:, :2], 1, 3),
        b.slice_scatter(b[:, :3], 1, 0, 5, 2),
        x.select_scatter(x[:, 0] + 1, 1, -2),
        b.select_scatter(b[0], 0, 2),
    )


def strided(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return (
        aten.as_strided_copy(x, [2, 3, 2], [20, 4, 1], 3),
        aten.as_strided_copy(b, [3, 3], [4, 2], 1),
        aten.unfold_copy(x, 1, 3, 2),
        aten.unfold_copy(b, 0, 2, 1),
        aten.copy(x, x[:1, :, :1]),
        aten.copy(b, x[:, :, 0] * 10),
    )


def truths(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    few = x > 1.5
    return few.any(1), few.any((0, 2), keepdim=True), few.any(), b.any(-1, keepdim=True), b[:1].any(0)


def integers(i: Tensor, j: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return (
        i.abs() * 3 - j,
        torch.div(i * 1000 + j, j, rounding_mode="floor"),
        (-i).clamp(-2, 1),
        torch.where(i > 0, i, j),
        i.maximum(j) == i,
        i / j,
        b + b * 2,
        torch.where(b < 3, b, -b),
    )


class Padded(torch.nn.Module):
    """Paddings, whose indices are made of a sequence."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return F.pad(x, (2, 1), mode="reflect"), F.pad(x, (1, 3), mode="replicate")


def made(x: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.arange(0.5, 4.5, 0.5) + x[0, 0, 0],
        torch.where(x > 0, x, torch.scalar_tensor(-3.0)),
    )


def inputs() -> dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]]:
    torch.manual_seed(0)
    x, b, v = values(torch.float32, 4, 5, 3), values(torch.int8, 4, 5), values(torch.float32, 5, 5, 3)
    positive, mask = ROWS % 4, values(torch.bool, 4, 5)
    along = positive, positive.reshape(1, 5), positive[:4].reshape(4, 1), torch.randint(0, 5, (3, 4, 3))
    return {
        "constants": (Constants(), (x, b)),
        "computed": (computed, (x, b, ROWS, COLUMNS, PLANES)),
        "selected": (selected, (x, b, *along)),
        "put": (put, (x, b, ROWS, PLANES, v, mask)),
        "scattered": (scattered, (x, b, *along)),
        "sliced": (sliced, (x, b)),
        "strided": (strided, (x, b)),
        "truths": (truths, (x, b)),
        "made": (made, (x,)),
        "integers": (integers, (ROWS, COLUMNS, b)),
        "padded": (Padded(), (x,)),
    }


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    write_manifest(TARGET, [r for op, (f, given) in inputs().items() for r in rows(TARGET, op, f, given, tolerance=0)])
