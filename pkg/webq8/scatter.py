"""Copies bytes between orders of axes, in few long steps."""

__all__ = ["scatter", "scattered"]

Steps = tuple[int, int, int]


def scatter(
    out: bytearray, data: memoryview, sizes: Steps, source: Steps, target: Steps, start: int = 0, at: int = 0
) -> None:
    """Copies element [i, j, k] of a loop over `sizes` from `start` + i·source[0] + j·source[1] + k·source[2] in data to
    `at` and target's steps in out. The longest axis is copied in one step, whichever it is."""
    if 0 in sizes:
        return
    i, j, k = sorted(range(3), key=lambda axis: sizes[axis])
    run = sizes[k] - 1
    for a in range(sizes[i]):
        for b in range(sizes[j]):
            x, y = start + a * source[i] + b * source[j], at + a * target[i] + b * target[j]
            out[y : y + run * target[k] + 1 : target[k]] = data[x : x + run * source[k] + 1 : source[k]]


def scattered(data: memoryview, sizes: Steps, source: Steps, target: Steps, nbytes: int) -> bytes:
    """`scatter` to new bytes, with zeros between."""
    out = bytearray(nbytes)
    scatter(out, data, sizes, source, target)
    return bytes(out)
