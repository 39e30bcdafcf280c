"""Cases of the ops that only move elements."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32

DTYPES = ("float32", "int8", "uint8", "int32", "int64", "bool")


def values(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Random ones over all of the dtype's range."""
    if dtype == "float32":
        return float32(rng, *shape)
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))


def text(*parts: Any) -> str:
    return "-".join("x".join(map(str, p)) if isinstance(p, tuple) else str(p) for p in parts)


def _cases(op: str, rows: list[tuple[Any, ...]], dtypes: tuple[str, ...] = DTYPES) -> Iterator[Case]:
    """Rows of a shape and further arguments: every one with float32 and with one other dtype in turn."""
    for i, (shape, *args) in enumerate(rows):
        for dtype in ("float32", dtypes[1 + i % (len(dtypes) - 1)]):
            name = text("empty" if 0 in shape else "shape", shape, dtype, *args)
            yield Case(op, name, lambda rng, d=dtype, s=shape, a=args: (values(rng, d, *s), *a))


_SHAPES = ((), (1,), (17,), (7, 5), (2, 3, 5), (2, 3, 5, 7), (1, 4, 3, 1), (2, 1, 3, 1, 5), (0,), (2, 0, 3))


def _views() -> Iterator[Case]:
    rows: list[tuple[Any, ...]] = [
        ((), (1,)),
        ((1,), ()),
        ((12,), (3, 4)),
        ((7, 5), (-1,)),
        ((2, 3, 5), (5, 6)),
        ((2, 3, 5, 7), (6, -1)),
        ((2, 3, 5, 7), (1, 210, 1, 1)),
        ((4, 3, 2, 2), (2, 2, -1, 1, 2, 2)),
        ((2, 0, 3), (0, 7)),
        ((1, 1, 2, 1, 3, 1, 2, 1), (12,)),
    ]
    for op in ("view_copy", "view", "_unsafe_view", "reshape"):
        yield from _cases(op, rows)
    yield from _cases(
        "flatten",
        [
            ((2, 3, 5, 7),),
            ((2, 3, 5, 7), 1),
            ((2, 3, 5, 7), 1, 2),
            ((2, 3, 5, 7), -2, -1),
            ((),),
            ((5,), 0),
            ((2, 0, 3),),
        ],
    )
    unsqueezed = [((), 0), ((), -1), ((5,), 0), ((5,), 1), ((2, 3, 5), -2), ((2, 3, 5, 7), 4), ((2, 0), 1)]
    squeezed: list[tuple[Any, ...]] = [
        ((1, 3, 1), 0),
        ((1, 3, 1), -1),
        ((2, 3), 1),
        ((), 0),
        ((1, 2, 1, 3), (0, 2)),
        ((1, 2, 1, 3), (0, 1, 2, 3)),
        ((2, 1, 5), (-2,)),
        ((1, 0, 1), (0, 2)),
    ]
    for suffix in ("", "_copy"):
        yield from _cases(f"unsqueeze{suffix}", unsqueezed)
        yield from _cases(f"squeeze{suffix}", [(shape, d if isinstance(d, tuple) else (d,)) for shape, d in squeezed])
    for op in ("clone", "alias_copy", "detach_copy", "lift_fresh_copy", "_clone_dim_order", "prepack"):
        yield from _cases(op, [(s,) for s in _SHAPES])
    for i, shape in enumerate(_SHAPES):
        for dtype in ("float32", DTYPES[1 + i % 5]):
            name = text("empty" if 0 in shape else "shape", shape, dtype)
            yield Case("copy", name, lambda rng, d=dtype, s=shape: (values(rng, d, *s), values(rng, d, *s)))
    for i, (shape, x) in enumerate(
        [
            ((3, 5), (5,)),
            ((2, 3, 5, 7), (3, 1, 7)),
            ((4, 8), ()),
            ((2, 1, 3, 1, 2, 2, 3, 2), (2, 1, 2)),
            ((0, 3), (1, 3)),
        ]
    ):
        for dtype, source in (("float32", "float32"), (DTYPES[1 + i], "float32"), ("float32", DTYPES[1 + i])):
            name = text("to", shape, dtype, x, source)
            yield Case(
                "copy",
                name,
                lambda rng, s=shape, d=dtype, x=x, f=source: (values(rng, d, *s), np.abs(values(rng, f, *x) // 2)),
            )


def _orders() -> Iterator[Case]:
    rows: list[tuple[Any, ...]] = [
        ((), ()),
        ((5,), (0,)),
        ((7, 5), (1, 0)),
        ((7, 5), (0, 1)),
        ((2, 3, 5), (2, 0, 1)),
        ((2, 3, 5), (-1, -3, -2)),
        ((2, 3, 5, 7), (0, 2, 3, 1)),
        ((2, 3, 5, 7), (0, 3, 1, 2)),
        ((2, 3, 4, 8), (1, 0, 2, 3)),
        ((2, 1, 3, 1, 2, 3, 2, 3), (7, 5, 3, 1, 6, 4, 2, 0)),
        ((2, 0, 3), (2, 1, 0)),
    ]
    transposed = [
        ((7, 5), 0, 1),
        ((2, 3, 5), -1, 0),
        ((2, 3, 5, 7), 1, 2),
        ((2, 3, 5), 1, 1),
        ((), 0, -1),
        ((2, 0), 0, 1),
    ]
    flipped = [
        ((17,), (0,)),
        ((7, 5), (-1,)),
        ((2, 3, 5), (0, 2)),
        ((2, 3, 5, 7), (1, 2)),
        ((3, 8), ()),
        ((), ()),
        ((2, 0), (0,)),
    ]
    for suffix in ("", "_copy"):
        yield from _cases(f"permute{suffix}", rows)
        yield from _cases(f"transpose{suffix}", transposed)
        yield from _cases(f"t{suffix}", [((7, 5),), ((64, 8),), ((5,),), ((),), ((1, 9),), ((0, 3),)])
    yield from _cases("flip", flipped)


def _parts() -> Iterator[Case]:
    most = 2**63 - 1
    sliced: list[tuple[Any, ...]] = [
        ((17,),),
        ((17,), 0, 3),
        ((17,), 0, 4, 12),
        ((17,), 0, -5, most, 2),
        ((7, 5), 1, None, -1),
        ((7, 5), 0, 1, 6, 3),
        ((2, 3, 5, 7), 1, 1, 2),
        ((2, 3, 5, 8), -1, 4, most),
        ((2, 3, 5, 8), 2, 0, 5, 2),
        ((7, 5), 0, 9, 12),
        ((7, 5), 0, 4, 2),
        ((3, 0), 0, 1),
    ]
    selected = [((17,), 3), ((7, 5), -1), ((2, 3, 5), 1), ((2, 3, 5, 7), 0), ((4, 3, 8), 2), ((1,), 0), ((3, 0), 2)]
    for suffix in ("", "_copy"):
        yield from _cases(f"slice{suffix}", sliced)
        yield from _cases(f"select{suffix}", [(s, len(s) // 3, i) for s, i in selected])
    yield from _cases(
        "split_with_sizes_copy",
        [
            ((7,), (2, 5)),
            ((7, 5), (1, 2, 4)),
            ((7, 5), (2, 3), 1),
            ((2, 9, 5), (4, 4, 1), -2),
            ((2, 8, 4), (4, 4), 1),
            ((7, 5), (0, 7)),
            ((2, 3, 5), (3,), 1),
        ],
    )


def _repeats() -> Iterator[Case]:
    expanded: list[tuple[Any, ...]] = [
        ((), (3,)),
        ((), ()),
        ((1,), (17,)),
        ((7, 1), (-1, 5)),
        ((1, 5), (3, 7, 5)),
        ((2, 1, 3, 1), (2, 5, 3, 7)),
        ((1, 1, 4), (2, 3, -1)),
        ((3,), (2, 1, 2, 3)),
        ((1, 3), (0, 3)),
    ]
    for suffix in ("", "_copy"):
        yield from _cases(f"expand{suffix}", expanded)
    yield from _cases(
        "repeat",
        [
            ((), ()),
            ((), (3,)),
            ((3,), (5,)),
            ((3, 5), (2, 2)),
            ((3, 5), (2, 1, 1, 3)),
            ((2, 3, 4), (1, 2, 1)),
            ((2, 3), (2, 0)),
            ((1, 2, 1, 2, 3), (2, 3, 1, 2, 2)),
        ],
    )


def _cat() -> Iterator[Case]:
    rows: list[tuple[int, tuple[tuple[int, ...], ...]]] = [
        (0, ((3,), (5,))),
        (0, ((1,), (1,), (1,), (2,))),
        (0, ((4,), (8,), (3,))),
        (1, ((2, 3), (2, 5), (2, 1))),
        (0, ((2, 3), (3, 3))),
        (-3, ((2, 3, 5, 7), (2, 2, 5, 7))),
        (1, ((2, 4, 2, 2), (2, 3, 2, 2))),
        (-1, ((2, 3, 4), (2, 3, 8))),
        (0, ((7, 5),)),
        (1, ((3, 0), (3, 4), (3, 0))),
        (0, ((0,), (2, 3))),
        (0, ((0,), (0,))),
    ]
    for i, (dim, shapes) in enumerate(rows):
        for dtype in ("float32", "int8", DTYPES[2 + i % 4]):

            def build(
                rng: np.random.Generator, d: str = dtype, shapes: Any = shapes, dim: int = dim
            ) -> tuple[Any, ...]:
                return [values(rng, d, *s) for s in shapes], dim

            yield Case(
                "cat", text("empty" if (0,) in shapes or (3, 0) in shapes else "shapes", dtype, dim, *shapes), build
            )
    yield Case("cat", "twice-the-same", lambda rng: ([x := float32(rng, 3, 5), x], 1))


def _pads() -> Iterator[Case]:
    rows: list[tuple[Any, ...]] = [
        ((5,), (1, 2)),
        ((5,), (1, 2), 7),
        ((7, 5), (0, 3, 2, 0), 1),
        ((2, 3, 5, 7), (1, 2, 3, 4), 3),
        ((2, 3, 5, 7), (1, 1, 1, 1, 1, 1, 1, 1)),
        ((2, 3, 5, 7), (0, 0, 0, 0, 2, 1), 9),
        ((7, 5), (-1, -2), 1),
        ((7, 5), (-1, 3, 2, -4), 1),
        ((2, 4, 8), (4, 4), 1),
        ((7, 5), (), 1),
        ((), (), 1),
        ((2, 0), (1, 1, 1, 0), 5),
    ]
    yield from _cases("constant_pad_nd", rows)
    yield Case("constant_pad_nd", "infinite", lambda rng: (float32(rng, 3, 5), (1, 1), -np.inf))
    yield Case("constant_pad_nd", "fraction", lambda rng: (float32(rng, 3, 5), (1, 1), 0.1))


def _shuffles() -> Iterator[Case]:
    shuffled = [
        ((1, 8, 2, 3), 2),
        ((2, 9, 3, 5), 3),
        ((4, 2, 2), 2),
        ((2, 3, 4, 3, 1), 2),
        ((1, 3, 5, 7), 1),
        ((2, 16, 2, 2), 4),
        ((0, 4, 3, 3), 2),
    ]
    unshuffled = [
        ((1, 2, 4, 6), 2),
        ((2, 1, 9, 3), 3),
        ((1, 2, 2), 2),
        ((2, 3, 2, 4, 6), 2),
        ((1, 3, 5, 7), 1),
        ((2, 1, 8, 4), 4),
        ((2, 0, 4, 4), 2),
    ]
    yield from _cases("pixel_shuffle", shuffled)
    yield from _cases("pixel_unshuffle", unshuffled)


def _constants() -> Iterator[Case]:
    for shape in _SHAPES:
        kind = "empty" if 0 in shape else "shape"
        for dtype, value in (
            ("float32", -2.5),
            ("int8", -128),
            ("uint8", 200),
            ("int64", -(2**40) - 1),
            ("bool", True),
        ):
            name = text(kind, shape, dtype)
            yield Case("full", name, lambda _, s=shape, v=value, d=dtype: (s, v, d))
            yield Case("full_like", name, lambda rng, s=shape, v=value, d=dtype: (values(rng, d, *s), v))
        for dtype in ("float32", "int8"):
            yield Case("empty", text(kind, shape, dtype), lambda _, s=shape, d=dtype: (s, d))
            yield Case("empty_like", text(kind, shape, dtype), lambda rng, s=shape, d=dtype: (values(rng, d, *s),))
            yield Case("_empty_dim_order", text(kind, shape, dtype), lambda _, s=shape, d=dtype: (s, d))
            for op in ("zeros", "ones"):
                yield Case(op, text(kind, shape, dtype), lambda _, s=shape, d=dtype: (s, d))
                yield Case(f"{op}_like", text(kind, shape, dtype), lambda rng, s=shape, d=dtype: (values(rng, d, *s),))
    for dtype in DTYPES:
        for value in (0, 1, 100):
            yield Case("scalar_tensor", f"{dtype}-{value}", lambda _, d=dtype, v=value: (v, d))


def _conversions() -> Iterator[Case]:
    # around the powers of two where digits are lost, and halves
    wide = np.array(
        [s * ((1 << k) + d) for k in range(62) for d in (-1, 0, 1) for s in (1, -1)] + [-(2**63), 2**63 - 1, 0, 1],
        np.int64,
    )
    floats = np.concatenate(
        [np.arange(-300, 300, dtype=np.float32) / 4, np.array([1e9, -1e9, 2e18, -2e18, 1e-40], np.float32)]
    )
    inputs: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
        "float32": lambda rng: floats,
        "int64": lambda rng: wide,
        **{d: lambda rng, d=d: values(rng, d, 251) for d in ("int8", "uint8", "int32", "bool")},
    }
    for source, build in inputs.items():
        for target in DTYPES:
            for op in ("_to_copy", "_to_dim_order_copy"):
                yield Case(op, f"{source}-to-{target}", lambda rng, b=build, t=target: (b(rng), t))
    for source in ("int64", "int32"):
        yield Case("_to_copy", f"any-{source}-to-float32", lambda rng, d=source: (values(rng, d, 2003), "float32"))
    for shape in ((), (2, 3, 5, 7), (0,)):
        name = text("empty" if 0 in shape else "shape", shape)
        yield Case("_to_copy", name, lambda rng, s=shape: (values(rng, "int8", *s),))


def _strided() -> Iterator[Case]:
    strided: list[tuple[Any, ...]] = [
        ((17,), (5,), (3,), 2),
        ((7, 5), (5, 7), (1, 5)),
        ((7, 5), (3, 3), (5, 5), 4),
        ((2, 3, 8), (2, 3, 4), (24, 8, 2), 1),
        ((2, 3, 4), (3, 2, 2, 2), (0, 12, 4, 2)),
        ((1, 48, 1, 1), (1, 48, 1, 1), (48, 1, 48, 48)),
        ((3, 4), (), (), 7),
        ((3, 4), (2, 0, 3), (1, 1, 1)),
        ((), (1, 3), (4, 0)),
    ]
    unfolded: list[tuple[Any, ...]] = [
        ((17,), 0, 3, 2),
        ((7, 5), 1, 2, 1),
        ((7, 5), 0, 7, 3),
        ((2, 3, 8), -1, 4, 4),
        ((2, 9, 3, 2), 1, 3, 4),
        ((3, 4), 0, 0, 1),
        ((), 0, 1, 1),
    ]
    for suffix in ("", "_copy"):
        yield from _cases(f"as_strided{suffix}", strided)
        yield from _cases(f"unfold{suffix}", unfolded)


def _sequences() -> Iterator[Case]:
    rows: list[tuple[Any, ...]] = [
        (0, 12),
        (-4, 36, 3),
        (10, -3, -2),
        (3, 3),
        (0, 1.0),
        (0.5, 4.25, 0.25),
        (1, 0, -0.1),
        (2**40, 2**40 + 5),
        (0, 12, 1.0, "int64"),
        (-1, 17, 1, "int32"),
        (-100, 100, 7, "int8"),
        (0, 255, 5, "uint8"),
        (0, 70, 1, "float32"),
        (2**40 + 1, 2**40 + 10**10, 987654321, "float32"),
        (-(2**62), 2**62, 2**58 + 12345),
        (1e30, 0, -1e29),
    ]
    for row in rows:
        yield Case("arange", text(*row), lambda _, row=row: row)


SHAPE_CASES = [
    *_views(),
    *_orders(),
    *_parts(),
    *_repeats(),
    *_cat(),
    *_pads(),
    *_shuffles(),
    *_constants(),
    *_strided(),
    *_sequences(),
    *_conversions(),
]
