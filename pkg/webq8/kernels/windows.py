"""Params of kernels that take windows of maps."""

__all__ = ["maps_params", "window_params"]


def maps_params(x: tuple[int, ...], y: tuple[int, ...]) -> dict[str, int]:
    """Of the maps that a kernel reads and writes, by their shapes."""
    return {"y_height": y[-2], "y_width": y[-1], "x_height": x[-2], "x_width": x[-1]}


def window_params(
    kernel: tuple[int, ...], stride: tuple[int, int], padding: tuple[int, ...], dilation: tuple[int, int] = (1, 1)
) -> dict[str, int]:
    """Of windows; `padding` begins with that at the top and left, which is all that kernels need to know."""
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
