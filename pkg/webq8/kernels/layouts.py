"""Kernels that take an int8 tensor in its layout, and the one between two layouts."""

from webq8.ir.plan import Dispatch
from webq8.plan.layout import Layout

__all__ = ["relayout", "words_params"]


def words_params(layout: Layout) -> dict[str, int]:
    """The struct Layout of wgsl/parts/layout.wgsl, for kernels whose threads take a word of an int8 tensor each."""
    return {
        "words": layout.words,
        "channels": layout.channels,
        "inner": layout.inner,
        "channel_words": layout.padded // 4,
    }


def relayout(source: int, x: Layout, target: int, y: Layout) -> Dispatch:
    """Copies an int8 tensor from one layout to another; planned, never asked for by an op."""
    return Dispatch(
        "relayout",
        {"x": source, "y": target},
        {
            "tensor": words_params(y),
            "x_channels": max(x.channels, 1),
            "x_inner": max(x.inner, 1),
            "x_padded": x.padded,
        },
        threads=y.words,
    )
