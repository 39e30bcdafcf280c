"""Recognizes other kinds of files and files for other backends, and says how to get one that works."""

import re
from collections.abc import Callable

from webq8.errors import Problem, shown

__all__ = ["EXPORT", "other_backend", "what_it_is"]

# A test runs these lines: `model` is a torch.nn.Module, quantized or not, `inputs` a tuple of tensors.
EXPORT = """\
    import torch
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.exir import to_edge_transform_and_lower

    exported = torch.export.export(model.eval(), inputs)
    program = to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()]).to_executorch()
    open("model.pte", "wb").write(program.buffer)"""

_HOW = f"make one of the PyTorch model with ExecuTorch (pip install executorch):\n{EXPORT}"
_RUNS = "webq8 runs .tflite, .onnx and .pte files"
_FROM_TORCH = f"{_RUNS}; {_HOW}"
_FETCH_AGAIN = "Look at what the address gives in a browser, and load the model's file itself"
_UNPACK = "Unpack it first, and load the model in it"
_FROM_KERAS = f"{_RUNS}; make one with tf.lite.TFLiteConverter.from_keras_model(model).convert()"
_SAME_MODEL = f"{_RUNS}, and this cannot be converted; {_HOW}"


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _at_four(identifier: bytes) -> Callable[[bytes], bool]:
    """Matches the identifier of a flatbuffer, in bytes 4 to 8."""
    return lambda head: head[4:8] == identifier


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.match(pattern, head, re.DOTALL | re.IGNORECASE) is not None


# what the first bytes say, what the file is, and what to do
_KINDS: tuple[tuple[Callable[[bytes], bool], str, str], ...] = (
    (_begins(b"version https://git-lfs"), "a Git LFS pointer, which stands for a file", "Run `git lfs pull`"),
    (_matches(rb"\s*(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|!--)"), "an HTML page", _FETCH_AGAIN),
    (_matches(rb"\s*(\xef\xbb\xbf)?\s*<(\?xml|svg)"), "an XML document", _FETCH_AGAIN),
    (_at_four(b"BP08"), "a bundled program, with inputs and outputs for tests", "Load the .pte it was bundled from"),
    (_at_four(b"FT01"), "ExecuTorch's .ptd file: weights without their program", "Export with the weights in the .pte"),
    (
        _matches(rb"....ET\d\d"),
        "a .pte file of another version (webq8 reads ET12)",
        f"Export it again; {_HOW}",
    ),
    (_begins(b"GGUF"), "a GGUF model", _SAME_MODEL),
    (_begins(b"\x89HDF"), "an HDF5 file, as Keras saves models", _FROM_KERAS),
    (_matches(rb".{8}\{\s*\""), "safetensors: weights without their model", _FROM_TORCH),
    (
        _begins(b"PK\x03\x04", b"PK\x05\x06"),
        "a zip archive, as PyTorch saves models and weights (.pt, .pth)",
        _FROM_TORCH,
    ),
    (_matches(rb"\x80[\x02-\x05]"), "a Python pickle, as PyTorch used to save models (.pt, .pth)", _FROM_TORCH),
    (_begins(b"\x1f\x8b"), "a file compressed by gzip", _UNPACK),
    (_begins(b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!"), "a compressed archive", _UNPACK),
    (lambda head: head[257:262] == b"ustar", "a tar archive", _UNPACK),
    (_begins(b"\x93NUMPY"), "a numpy array", "Pass it to a program as an input"),
    (_begins(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM"), "an image or a recording", _FETCH_AGAIN),
    (_matches(rb"\s*[{\[]\s*[\"\[{\]}\d]"), "JSON text", _FETCH_AGAIN),
)


def what_it_is(data: memoryview) -> str:
    """A sentence that says what bytes are that no reader takes, and how to get a file that works."""
    head = bytes(data[:512])
    if not head:
        return "there is nothing in it: it holds no byte. Download or export it again"
    for fits, kind, advice in _KINDS:
        if fits(head):
            return f"this is {kind}. {advice}"
    if not any(head):
        return "this is no model: it begins with zeros, as a download does that was not finished. Get it again"
    text = head.decode("utf-8", "ignore")
    if len(head) >= 16 and text.isprintable():
        return f"this is text: {shown(text)}. {_FETCH_AGAIN}"
    found = f"identifier {head[4:8]!r} is of no kind" if len(head) >= 8 else f"{len(head)} bytes are too few"
    return f"this is no model: {found}. {_FROM_TORCH}"


def other_backend(name: str) -> Problem:
    """The problem of a delegate that is for another backend."""
    reason = f"its delegates are for the backend {shown(name)}, which runs in no web page; export it for Vulkan instead"
    return Problem("", "", f"{reason}:\n{EXPORT}")
