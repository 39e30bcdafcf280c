"""Which variant of a kernel a problem gets: rules from measurements, all in this file."""

__all__ = ["slices_of_k"]

# What keeps a large GPU busy (an H200 has 132 multiprocessors); the least steps (of 16 bytes of K) worth a slice
# of their own; and the sums that are long enough for slices, which cost a second dispatch.
_WORKGROUPS, _LEAST_STEPS, _LONG = 200, 16, 64


def slices_of_k(tiles: int, steps: int) -> int:
    """Into how many slices, summed side by side, wgsl/gemm.wgsl cuts K where its tiles alone would leave a GPU idle."""
    if steps < _LONG:
        return 1
    return max(1, min(_WORKGROUPS // max(tiles, 1), steps // _LEAST_STEPS))
