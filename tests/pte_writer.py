"""Writes `.pte` files field by field, for files that no exporter writes: parts that are shared, counts that lie."""

from collections.abc import Callable, Sequence

import numpy as np
from flatbuffers import Builder

DTYPES = {"uint8": 0, "int8": 1, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7, "bool": 11}

# slots of a table: what to add to an object that is being built
Fields = dict[int, Callable[[int], None]]


class Flatbuffer:
    """Parts are numbered by where they lie in the file: one may be named as often as one likes."""

    def __init__(self) -> None:
        self.b = Builder(1024)

    def table(self, fields: Fields) -> int:
        self.b.StartObject(max(fields, default=-1) + 1)
        for slot, add in fields.items():
            add(slot)
        return self.b.EndObject()

    def offset(self, part: int) -> Callable[[int], None]:
        return lambda slot: self.b.PrependUOffsetTRelativeSlot(slot, part, 0)

    def byte(self, value: int) -> Callable[[int], None]:
        return lambda slot: self.b.PrependByteSlot(slot, value, 0)

    def int32(self, value: int) -> Callable[[int], None]:
        return lambda slot: self.b.PrependUint32Slot(slot, value % 2**32, 0)

    def parts(self, parts: Sequence[int]) -> int:
        self.b.StartVector(4, len(parts), 4)
        for part in reversed(parts):
            self.b.PrependUOffsetTRelative(part)
        return self.b.EndVector()

    def numbers(self, values: Sequence[int] | Sequence[float] | np.ndarray, dtype: str) -> int:
        return self.b.CreateNumpyVector(np.asarray(values, dtype)) if len(values) else self.empty()

    def empty(self) -> int:
        self.b.StartVector(4, 0, 4)
        return self.b.EndVector()

    def text(self, text: str) -> int:
        return self.b.CreateString(text)

    def buffer(self, data: bytes) -> int:
        return self.table({0: self.offset(self.numbers(np.frombuffer(data, np.uint8), "uint8"))})


class Pte(Flatbuffer):
    """A `.pte` file in the making."""

    def __init__(self) -> None:
        super().__init__()
        self.constants = [self.buffer(b"")]  # number 0 stands for none

    # --- values

    def value(self, kind: int, fields: Fields) -> int:
        inner = self.table(fields)
        return self.table({0: self.byte(kind), 1: self.offset(inner)})

    def none(self) -> int:
        return self.table({})

    def integer(self, value: int) -> int:
        return self.value(2, {0: lambda slot: self.b.PrependInt64Slot(slot, value, 0)})

    def double(self, value: float) -> int:
        return self.value(4, {0: lambda slot: self.b.PrependFloat64Slot(slot, value, 0.0)})

    def string(self, text: str) -> int:
        return self.value(6, {0: self.offset(self.text(text))})

    def tensor(self, shape: Sequence[int], dtype: str = "float32", data: bytes | None = None) -> int:
        if data is not None:
            self.constants.append(self.buffer(data))
        return self.sized(self.numbers(list(shape), "int32"), dtype, len(self.constants) - 1 if data is not None else 0)

    def sized(self, sizes: int, dtype: str = "float32", constant: int = 0) -> int:
        """A tensor of sizes that have been written."""
        return self.value(5, {0: self.byte(DTYPES[dtype]), 2: self.offset(sizes), 5: self.int32(constant)})

    def ints(self, ids: Sequence[int]) -> int:
        return self.value(7, {0: self.offset(self.numbers(list(ids), "int64"))})

    def doubles(self, values: Sequence[float]) -> int:
        return self.value(8, {0: self.offset(self.numbers(list(values), "float64"))})

    def tensors(self, ids: Sequence[int]) -> int:
        return self.value(10, {0: self.offset(self.numbers(list(ids), "int32"))})

    # --- methods

    def call(self, operator: int, args: Sequence[int]) -> int:
        inner = self.table({0: self.int32(operator), 1: self.offset(self.numbers(list(args), "int32"))})
        return self.table({0: self.byte(1), 1: self.offset(inner)})

    def method(
        self,
        values: Sequence[int] | int,
        calls: Sequence[tuple[str, Sequence[int]]],
        inputs: Sequence[int],
        outputs: Sequence[int],
        name: str = "forward",
        delegates: Sequence[str] = (),
    ) -> int:
        """Calls are ("aten::add.out", argument ids); `values` may be a vector that has been written.
        `delegates` are called in order; each is the name of a backend, without data or arguments."""
        names = list(dict.fromkeys(op for op, _ in calls))
        operators = []
        for op in names:
            full, _, overload = op.partition(".")
            pair = self.text(full), self.text(overload)
            operators.append(self.table({0: self.offset(pair[0]), 1: self.offset(pair[1])}))
        instructions = self.parts(
            [self.call(names.index(op), args) for op, args in calls]
            + [
                self.table({0: self.byte(2), 1: self.offset(self.table({0: self.int32(i)}))})
                for i in range(len(delegates))
            ]
        )
        chain = self.table({2: self.offset(instructions)})
        fields = {
            0: self.text(name),
            2: values if isinstance(values, int) else self.parts(values),
            3: self.numbers(list(inputs), "int32"),
            4: self.numbers(list(outputs), "int32"),
            5: self.parts([chain]),
            6: self.parts(operators),
            7: self.parts([self.table({0: self.offset(self.text(backend))}) for backend in delegates]),
        }
        return self.table({slot: self.offset(part) for slot, part in fields.items()})

    def file(self, *methods: int) -> bytes:
        fields = {1: self.parts(methods), 2: self.parts(self.constants)}
        root = self.table({slot: self.offset(part) for slot, part in fields.items()})
        self.b.Finish(root, b"ET12")
        return bytes(self.b.Output())


def one_call(
    op: str,
    build: Callable[[Pte], list[int]],
    inputs: Sequence[int] = (),
    arguments: Sequence[int] | None = None,
    output: int | None = None,
) -> bytes:
    """A file of one call. `build` writes its values, the output last unless said otherwise; `arguments` are those
    before the output, all without."""
    pte = Pte()
    values = build(pte)
    out = len(values) - 1 if output is None else output
    args = range(out) if arguments is None else arguments
    return pte.file(pte.method(values, [(op, [*args, out, out])], inputs, [out]))
