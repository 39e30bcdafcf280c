"""Params of kernels that read windows of maps: the structs Maps and Window of wgsl/parts/."""

__all__ = ["maps_params", "window_params"]


def maps_params(x: tuple[int, ...], y: tuple[int, ...]) -> dict[str, int]:
    """The heights and widths of the maps that a kernel reads and writes, by the shapes of their tensors."""
    return {"y_height": y[-2], "y_width": y[-1], "x_height": x[-2], "x_width": x[-1]}


def window_params(
    kernel: tuple[int, ...], stride: tuple[int, int], padding: tuple[int, ...], dilation: tuple[int, int] = (1, 1)
) -> dict[str, int]:
    """The windows of a pool or a convolution. Kernels need no padding but that at the top and left, with which
    `padding` begins."""
    return {
        "kernel_height": kernel[0],
        "kernel_width": kernel[1],
        "stride_height": stride[0],
        "stride_width": stride[1],
        "pad_height": padding[0],
        "pad_width": padding[1],
        "dilation_height": dilation[0],
        "dilation_width": dilation[1],
    }
