"""Writes `.tflite` files field by field: small models for each rule, and what no converter writes."""

from collections.abc import Mapping, Sequence

import numpy as np
from pte_writer import Fields, Flatbuffer
from webq8.formats.tflite.model import OPERATORS

DTYPES = {
    "float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "complex64": 8,
    "int8": 9, "resource": 13, "int4": 17,
}  # fmt: skip
Array = np.ndarray


class Tflite(Flatbuffer):
    """One subgraph after the other: tensors, calls on them, then `subgraph`; `file` joins them."""

    def __init__(self) -> None:
        super().__init__()
        self.buffers = [self.table({})]  # number 0 stands for none
        self.codes: list[tuple[str, int]] = []
        self.subgraphs: list[int] = []
        self.signatures: list[int] = []
        self.tensors: list[int] = []
        self.calls: list[int] = []

    def tensor(
        self,
        shape: Sequence[int],
        dtype: str = "float32",
        data: Array | bytes | None = None,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        axis: int = 0,
        name: str = "",
        signature: Sequence[int] | None = None,
        more: Mapping[int, int] | None = None,
        buffer: int | None = None,
    ) -> int:
        """`more` are parts by slot; `buffer` is the number of one that was added before."""
        scales, zero_points = np.atleast_1d(scale if scale is not None else []), np.atleast_1d(zero_point)
        parts = {0: self.numbers(list(shape), "int32"), 3: self.text(name or f"t{len(self.tensors)}")}
        if len(scales):
            quantization: Fields = {
                2: self.offset(self.numbers(scales, "float32")),
                3: self.offset(self.numbers(zero_points, "int64")),
                6: self.int32(axis),
            }
            parts[4] = self.table(quantization)
        if signature:
            parts[7] = self.numbers(list(signature), "int32")
        parts |= more or {}
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(self.buffer(data if isinstance(data, bytes) else np.asarray(data, dtype).tobytes()))
        fields = {slot: self.offset(part) for slot, part in parts.items()}
        fields |= {1: self.byte(DTYPES[dtype]), 2: self.int32(buffer or 0)}
        self.tensors.append(self.table(fields))
        return len(self.tensors) - 1

    def ints(self, *numbers: int) -> int:
        return self.tensor([len(numbers)], "int32", np.array(numbers))

    def call(
        self,
        operator: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Fields | None = None,
        version: int = 1,
    ) -> None:
        """A call; a name that TFLite does not have is that of a custom operator."""
        if (operator, version) not in self.codes:
            self.codes.append((operator, version))
        parts = {1: self.numbers(list(inputs), "int32"), 2: self.numbers(list(outputs), "int32")}
        fields: Fields = {slot: self.offset(part) for slot, part in parts.items()}
        fields[0] = self.int32(self.codes.index((operator, version)))
        if options is not None:
            inner = self.table(options)
            fields |= {3: self.byte(1), 4: self.offset(inner)}
        self.calls.append(self.table(fields))

    def subgraph(self, inputs: Sequence[int], outputs: Sequence[int], name: str = "main") -> int:
        parts = {
            0: self.parts(self.tensors),
            1: self.numbers(list(inputs), "int32"),
            2: self.numbers(list(outputs), "int32"),
            3: self.parts(self.calls),
            4: self.text(name),
        }
        self.subgraphs.append(self.table({slot: self.offset(part) for slot, part in parts.items()}))
        self.tensors, self.calls = [], []
        return len(self.subgraphs) - 1

    def signature(self, key: str, subgraph: int, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> None:
        def names(of: Mapping[str, int]) -> int:
            texts = [(self.text(name), i) for name, i in of.items()]
            return self.parts([self.table({0: self.offset(text), 1: self.int32(i)}) for text, i in texts])

        parts = {0: names(inputs), 1: names(outputs), 2: self.text(key)}
        fields: Fields = {slot: self.offset(part) for slot, part in parts.items()}
        self.signatures.append(self.table({**fields, 4: self.int32(subgraph)}))

    def _code(self, name: str, version: int) -> int:
        known = name in OPERATORS
        number = OPERATORS.index(name if known else "CUSTOM")
        fields: Fields = {0: self.byte(min(number, 127)), 2: self.int32(version), 3: self.int32(number)}
        return self.table(fields if known else {**fields, 1: self.offset(self.text(name))})

    def file(self, version: int = 3) -> bytes:
        parts = {
            1: self.parts([self._code(*code) for code in self.codes]),
            2: self.parts(self.subgraphs),
            4: self.parts(self.buffers),
            7: self.parts(self.signatures),
        }
        fields: Fields = {slot: self.offset(part) for slot, part in parts.items()}
        self.b.Finish(self.table({**fields, 0: self.int32(version)}), b"TFL3")
        return bytes(self.b.Output())
