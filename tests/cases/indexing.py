"""Cases of reading and writing elements at indices."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case
from cases.shape import DTYPES, text, values

_MOST = 2**63 - 1


def _integers(rng: np.random.Generator, low: int, high: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def _turns(op: str, rows: list[tuple[Any, ...]], build: Any) -> Iterator[Case]:
    """Rows, each with float32 and with one other dtype in turn, and with indices of int64 and int32 in turn."""
    for i, row in enumerate(rows):
        for n, dtype in enumerate(("float32", DTYPES[1 + i % (len(DTYPES) - 1)])):
            index = ("int64", "int32")[(i + n) % 2]
            name = text(dtype, index, *row)
            yield Case(op, name, lambda rng, d=dtype, j=index, row=row: build(rng, d, j, *row))


def _list(rng: np.random.Generator, shape: tuple[int, ...], indices: Any, dtype: str) -> list[np.ndarray | None]:
    """Of "mask" and a rank a mask, of a shape an index tensor, negative ones among it, for each dimension in turn."""
    found: list[np.ndarray | None] = []
    dim = 0
    for index in indices:
        if index is None:
            found.append(None)
        elif index[:1] == ("mask",):
            found.append(rng.integers(0, 2, shape[dim : dim + index[1]]).astype(bool))
            dim += index[1] - 1
        else:
            found.append(_integers(rng, -shape[dim], shape[dim], index, dtype))
        dim += 1
    return found


_INDEXED: list[tuple[Any, ...]] = [
    ((17,), ((5,),)),
    ((17,), ((),)),
    ((7, 5), (None, (3,))),
    ((7, 8), ((3,),)),
    ((7, 5), ((2, 3),)),
    ((2, 3, 16, 5), (None, None, (19,), None)),
    ((2, 3, 5), ((4,), None, (4,))),
    ((2, 3, 5), (None, (3, 1), (1, 4))),
    ((2, 3, 5), ((), (4,))),
    ((2, 3, 4, 5), (None, (2,), (3, 1), None)),
    ((2, 3, 5, 4), ((3,), (2, 1), (2, 3), ())),
    ((2, 3, 2, 3, 2, 2), ((2,), (2,), (2,), (2,), (2,), (2,))),
    ((2, 1, 3, 1, 2, 2, 2, 2), (None, None, (3,))),
    ((3, 4, 8), ((0,),)),
    ((2, 0, 3), (None, None, (2,))),
]
_MASKED: list[tuple[Any, ...]] = [
    ((17,), (("mask", 1),)),
    ((7, 5), (("mask", 2),)),
    ((3, 4, 5), (None, ("mask", 2))),
    ((3, 4, 5), (("mask", 1), None, ())),
]


def _reads() -> Iterator[Case]:
    def build(rng: np.random.Generator, dtype: str, index: str, shape: Any, indices: Any) -> tuple[Any, ...]:
        return values(rng, dtype, *shape), _list(rng, shape, indices, index)

    yield from _turns("index", _INDEXED + _MASKED, build)
    selected: list[tuple[Any, ...]] = [
        ((17,), 0, (5,)),
        ((7, 5), 1, (3,)),
        ((7, 8), 0, (9,)),
        ((2, 3, 5), -2, (4,)),
        ((2, 3, 5), 2, ()),
        ((), 0, (1,)),
        ((3, 4, 0), 0, (2,)),
        ((4, 3, 2, 4), 0, (0,)),
    ]

    def select(rng: np.random.Generator, dtype: str, index: str, shape: Any, dim: int, count: Any) -> tuple[Any, ...]:
        return values(rng, dtype, *shape), dim, _integers(rng, 0, shape[dim] if shape else 1, count, index)

    yield from _turns("index_select", selected, select)
    gathered: list[tuple[Any, ...]] = [
        ((17,), 0, (5,)),
        ((7, 5), 1, (7, 3)),
        ((7, 5), 0, (9, 4)),
        ((2, 3, 5), -2, (2, 4, 5)),
        ((2, 3, 8), 0, (3, 2, 8)),
        ((2, 3, 2, 4), -1, (1, 3, 2, 5)),
        ((), 0, ()),
        ((), 0, (3,)),
        ((3, 4), 0, (0, 4)),
    ]
    yield from _turns("gather", gathered, select)

    def embed(rng: np.random.Generator, dtype: str, index: str, rows: int, width: int, shape: Any) -> tuple[Any, ...]:
        return values(rng, dtype, rows, width), _integers(rng, 0, rows, shape, index)

    table = [(100, 48, (1, 12)), (7, 5, (2, 3)), (7, 8, ()), (3, 1, (17,)), (50, 16, (0, 3)), (2, 3, (1, 2, 3, 2))]
    yield from _turns("embedding", table, embed)


def _writes() -> Iterator[Case]:
    def put(rng: np.random.Generator, dtype: str, index: str, shape: Any, indices: Any, given: Any, add: bool) -> Any:
        return values(rng, dtype, *shape), _list(rng, shape, indices, index), values(rng, dtype, *given), add

    rows: list[tuple[Any, ...]] = [
        ((17,), ((5,),), (5,)),
        ((17,), ((64,),), ()),
        ((7, 5), (None, (3,)), (7, 3)),
        ((7, 8), ((3,),), (8,)),
        ((7, 5), ((2, 3),), (2, 3, 5)),
        ((2, 3, 5), ((4,), None, (4,)), (4, 3)),
        ((2, 3, 5), (None, (3, 1), (1, 4)), (2, 1, 4)),
        ((2, 3, 4, 5), (None, (2,), (3, 1), None), (1, 3, 2, 5)),
        ((2, 3, 2, 3, 2, 2), ((2,), (2,), (2,), (2,), (2,), (2,)), (1,)),
        ((3, 4, 8), ((0,),), (8,)),
        ((3, 5), (("mask", 2),), ()),
        ((3, 4, 5), (None, ("mask", 1)), (3, 1, 5)),
        ((3, 4, 5), (("mask", 2),), (5,)),
    ]
    yield from _turns("index_put", [(*row, add) for row in rows for add in (False, True)], put)

    def scatter(rng: np.random.Generator, dtype: str, index: str, shape: Any, dim: int, count: Any, src: Any) -> Any:
        size = shape[dim] if shape else 1
        return values(rng, dtype, *shape), dim, _integers(rng, 0, size, count, index), values(rng, dtype, *src)

    scattered: list[tuple[Any, ...]] = [
        ((17,), 0, (5,), (9,)),
        ((7, 5), 1, (7, 3), (7, 3)),
        ((7, 5), 0, (9, 4), (9, 5)),
        ((2, 3, 5), -2, (1, 4, 3), (2, 4, 3)),
        ((2, 3, 8), 0, (3, 2, 8), (3, 2, 8)),
        ((), 0, (), ()),
        ((3, 4), 0, (0, 4), (2, 4)),
    ]
    for op in ("scatter", "scatter_add"):
        yield from _turns(op, scattered, scatter)

    def put_slice(rng: np.random.Generator, dtype: str, _: str, shape: Any, dim: int, *part: Any) -> tuple[Any, ...]:
        count = len(range(shape[dim])[slice(*part)])
        src = (*shape[:dim], count, *shape[dim:][1:])
        return values(rng, dtype, *shape), values(rng, dtype, *src), dim, *part

    slices: list[tuple[Any, ...]] = [
        ((17,), 0, 3, _MOST),
        ((7, 5), 1, 1, 3),
        ((7, 5), 0, -3, -1),
        ((2, 3, 8), 1, 1, 2),
        ((2, 9, 3), 1, 1, 9, 3),
        ((2, 9, 4), 1, 0, 9, 2),
        ((3, 5, 11), 2, 2, 10, 4),
        ((7, 5), 0, 4, 2),
        ((7, 5), 0, None, None),
        ((3, 0), 0, 1, 2),
    ]
    yield from _turns("slice_scatter", slices, put_slice)

    def put_row(rng: np.random.Generator, dtype: str, _: str, shape: Any, dim: int, index: int) -> tuple[Any, ...]:
        at = dim % len(shape)
        return values(rng, dtype, *shape), values(rng, dtype, *shape[:at], *shape[at + 1 :]), dim, index

    selected = [
        ((17,), 0, 3),
        ((7, 5), -1, -1),
        ((2, 3, 5), 1, 1),
        ((4, 3, 8), 0, 2),
        ((2, 3, 5, 7), -2, 0),
        ((1,), 0, 0),
    ]
    yield from _turns("select_scatter", selected, put_row)


INDEXING_CASES = [*_reads(), *_writes()]
