"""Copies bytes between orders of axes, by strides."""

__all__ = ["scatter", "scattered"]

Triple = tuple[int, int, int]


def scatter(
    out: bytearray, data: memoryview, sizes: Triple, source: Triple, target: Triple, start: int = 0, at: int = 0
) -> None:
    """Copies byte [i, j, k] of a loop over `sizes` from data[`start` + i·source[0] + j·source[1] + k·source[2]] to
    out[`at` + i·target[0] + j·target[1] + k·target[2]]. The longest axis is copied by slices, since these are fast."""
    if 0 in sizes:
        return
    i, j, k = sorted(range(3), key=lambda axis: sizes[axis])
    run = sizes[k] - 1
    for a in range(sizes[i]):
        for b in range(sizes[j]):
            x, y = start + a * source[i] + b * source[j], at + a * target[i] + b * target[j]
            out[y : y + run * target[k] + 1 : target[k]] = data[x : x + run * source[k] + 1 : source[k]]


def scattered(data: memoryview, sizes: Triple, source: Triple, target: Triple, nbytes: int) -> bytes:
    """New bytes that `scatter` has filled; zeros between them."""
    out = bytearray(nbytes)
    scatter(out, data, sizes, source, target)
    return bytes(out)
