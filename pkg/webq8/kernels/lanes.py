"""How many threads share a result that sums up or compares many elements."""

from webq8.dtypes import cdiv

__all__ = ["lanes_for", "shared_threads"]

_THREADS = 64  # a workgroup of the kernels whose threads share results
_MANY = 2048  # results that keep a GPU busy with one thread each


def lanes_for(count: int, results: int, contiguous: bool) -> int:
    """How many threads share a result, a power of two up to a workgroup's 64, for a reduction over `count` elements.

    One, where there are results enough and neighbouring ones lie side by side in memory.
    """
    if not contiguous and results >= _MANY and count < _MANY:
        return 1
    return min(_THREADS, 1 << max(0, cdiv(count, 4).bit_length() - 1))


def shared_threads(results: int, lanes: int) -> int:
    """Threads for results that take `lanes` each, in whole workgroups."""
    return cdiv(results, _THREADS // lanes) * _THREADS
