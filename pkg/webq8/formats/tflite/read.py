"""TFLite's container: the flatbuffer `TFL3`, with subgraphs of tensors and operators, and signatures that name them.

Field numbers follow TensorFlow's `compiler/mlir/lite/schema/schema.fbs`. Buffers of large files lie behind the
flatbuffer.
"""

import struct
from array import array
from collections.abc import Iterator, Sequence

from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import FormatError, shown
from webq8.formats.base import Names
from webq8.formats.flatbuf import Table, root
from webq8.formats.tflite.model import OPERATORS, Subgraph, TfliteMethod, TfliteModel, TfliteOperator, TfliteTensor
from webq8.stages import Stage, Steps

__all__ = ["read_model"]

_IDENTIFIER = b"TFL3"
_VERSION = 3
_DTYPES = (
    *("float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64"),
    *("complex128", "uint64", "resource", "variant", "uint32", "uint16", "int4", "bfloat16"),
)
_CUSTOM = OPERATORS.index("CUSTOM")
_CALLERS = {"CALL_ONCE": (0,), "IF": (0, 1), "WHILE": (0, 1)}  # fields of their options that number subgraphs


@Stage
def read_model(data: memoryview, name: str = "program") -> Steps[TfliteModel]:
    """Reads a whole file. `name` stands for it in messages.

    Raises FormatError where the file is damaged. What is sound but not supported is found when a method is lowered.
    """
    return (yield from _Reader(data, name, Budget(len(data), name)).model())


class _Reader:
    def __init__(self, data: memoryview, name: str, budget: Budget) -> None:
        self.data, self.name, self.budget = data, name, budget
        self.flat = root(data, _IDENTIFIER, name, budget)

    def model(self) -> Steps[TfliteModel]:
        if (version := self.flat.integer(0, "I")) != _VERSION:
            raise FormatError(f"{self.name}: version {version} of the schema; {_VERSION} is the one that files have")
        self.buffers = self.flat.tables(4, f"{self.name}, buffer")
        self.codes = [self._code(t) for t in self.flat.tables(1, f"{self.name}, operator code")]
        tables = self.flat.tables(2, f"{self.name}, subgraph")
        if not tables:
            raise FormatError(f"{self.name}: the file holds no subgraph")
        subgraphs = []
        for i, table in enumerate(tables):
            yield
            subgraphs.append(self._subgraph(table, f"subgraph {i}, " if i else ""))
        return TfliteModel(tuple(subgraphs), self._methods(subgraphs), len(self.data))

    def _fail(self, where: str, reason: str) -> FormatError:
        return FormatError(f"{self.name}: {where}: {reason}")

    # --- operators

    def _code(self, table: Table) -> tuple[str, bool]:
        """The name of an operator, and whether it is none of TFLite's own. Old files have its number in a byte."""
        number = max(table.integer(0, "b"), table.integer(3, "i"))
        if number == _CUSTOM:
            return table.string(1) or "a custom operator without a name", True
        return OPERATORS[number] if 0 <= number < len(OPERATORS) else f"operator number {number}", False

    def _operator(self, table: Table, where: str, tensors: int) -> TfliteOperator:
        code = table.integer(0, "I")
        if code >= len(self.codes):
            raise self._fail(where, f"operator code {code} does not exist (there are {len(self.codes)})")
        name, custom = self.codes[code]
        inputs = self._ids(table.vector(1, "i"), tensors, where, missing=True)
        outputs = self._ids(table.vector(2, "i"), tensors, where)
        options = None if custom else table.union(3, f"{self.name}: {where}: options")[1]
        intermediates = self._ids(table.vector(8, "i"), tensors, where)
        return TfliteOperator(where, name, custom, inputs, outputs, options, intermediates)

    def _ids(self, ids: tuple[int, ...], count: int, where: str, missing: bool = False) -> tuple[int, ...]:
        for i in ids:
            if not (-1 if missing else 0) <= i < count:
                raise self._fail(where, f"tensor {i} does not exist (there are {count})")
        return ids

    def _subgraph(self, table: Table, prefix: str) -> Subgraph:
        what = f"{self.name}: {prefix}"
        tensors = tuple(self._tensor(t, f"{prefix}tensor {i}") for i, t in enumerate(table.tables(0, f"{what}tensor")))
        inputs = self._ids(table.vector(1, "i"), len(tensors), f"{prefix}inputs")
        outputs = self._ids(table.vector(2, "i"), len(tensors), f"{prefix}outputs")
        operators = table.tables(3, f"{what}operator")
        calls = tuple(self._operator(t, f"{prefix}operator {i}", len(tensors)) for i, t in enumerate(operators))
        return Subgraph(table.string(4), tensors, inputs, outputs, calls)

    # --- tensors

    def _tensor(self, table: Table, where: str) -> TfliteTensor:
        number = table.integer(1, "b")
        if not 0 <= number < len(_DTYPES):
            raise self._fail(where, f"type {number} of elements is not known")
        dtype, shape = _DTYPES[number], table.vector(0, "i")
        if any(size < 0 for size in shape):
            raise self._fail(where, f"negative size in {shown(shape)}")
        if numel(shape) >= 2**40:
            raise self._fail(where, f"a tensor of {shown(shape)} is larger than any memory")
        sparse = table.table(6, f"{self.name}: {where}: sparsity") is not None
        data = self._data(table.integer(2, "I"), where)
        if data is not None and not sparse:
            dtype, data = self._decoded(data, dtype, shape, where)
        quantization = self._quantization(table.table(4, f"{self.name}: {where}: quantization"), where)
        signature = table.vector(7, "i")
        open_ = tuple(i for i, size in enumerate(signature) if size < 0 and i < len(shape))
        variable = bool(table.scalar(5, "?"))
        return TfliteTensor(table.string(3), shape, dtype, data, *quantization, variable, sparse, open_)

    def _data(self, buffer: int, where: str) -> memoryview | None:
        """The bytes of a buffer; None for an empty one, as tensors have that are computed."""
        if buffer >= len(self.buffers):
            raise self._fail(where, f"buffer {buffer} does not exist (there are {len(self.buffers)})")
        table = self.buffers[buffer]
        offset, size = table.integer(1, "Q"), table.integer(2, "Q")
        if offset > 1:
            if offset + size > len(self.data):
                end = offset + size
                raise self._fail(where, f"the file is cut off: buffer {buffer} ends at byte {end} of {len(self.data)}")
            return self.data[offset : offset + size]
        return table.blob(0) or None

    def _decoded(self, data: memoryview, dtype: str, shape: tuple[int, ...], where: str) -> tuple[str, memoryview]:
        """Data in a dtype of this package, where one has the same values; checks how much there is."""
        count = numel(shape)
        if dtype not in ITEMSIZE and dtype != "int4":
            return dtype, data
        need = (count + 1) // 2 if dtype == "int4" else count * ITEMSIZE[dtype]
        if len(data) != need:
            raise self._fail(where, f"{len(data)} bytes of data, {need} are expected for {dtype} {shown(shape)}")
        if dtype == "int4":
            self.budget.read(2 * count)
            return "int8", memoryview(bytes(_nibbles(data)))[:count]
        if dtype == "float16":
            self.budget.read(4 * count)
            return "float32", memoryview(array("f", struct.unpack(f"<{count}e", data))).cast("B")
        return dtype, data

    def _quantization(self, table: Table | None, where: str) -> tuple[tuple[float, ...], tuple[int, ...], int]:
        """Scales, as many zero points, and their axis; none of them where a file has ranges only."""
        scales = table.vector(2, "f") if table else ()
        if table is None or not scales:
            return (), (), 0
        zero_points, axis = table.vector(3, "q"), table.integer(6, "i")
        if len(zero_points) == 1 or not zero_points:
            zero_points = (zero_points or (0,)) * len(scales)
        if len(zero_points) != len(scales):
            raise self._fail(where, f"{len(scales)} scales, but {len(zero_points)} zero points")
        return scales, zero_points, axis

    # --- methods

    def _methods(self, subgraphs: Sequence[Subgraph]) -> dict[str, TfliteMethod]:
        """The methods that signatures name; without signatures, all subgraphs that no operator calls."""
        methods = dict[str, TfliteMethod]()
        for n, table in enumerate(self.flat.tables(7, f"{self.name}, signature")):
            index, where = table.integer(4, "I"), f"signature {n}"
            if index >= len(subgraphs):
                raise self._fail(where, f"subgraph {index} does not exist (there are {len(subgraphs)})")
            graph, key = subgraphs[index], table.string(2) or f"signature_{n}"
            if key in methods:
                raise self._fail(where, f"another one has the name {shown(key)}, too")
            inputs, outputs = (
                self._names(table.tables(slot, f"{self.name}: {where}: name"), ids, graph, where)
                for slot, ids in ((0, graph.inputs), (1, graph.outputs))
            )
            methods[key] = TfliteMethod(index, Names.of(inputs, outputs))
        if methods:
            return methods
        called = set(_called(subgraphs))
        for i, graph in enumerate(subgraphs):
            if i == 0 or i not in called:
                key = (graph.name or "main") + f"_{i}" * ((graph.name or "main") in methods)
                names = ([graph.tensors[j].name for j in ids] for ids in (graph.inputs, graph.outputs))
                methods[key] = TfliteMethod(i, Names.of(*names))
        return methods

    def _names(self, tables: Sequence[Table], ids: tuple[int, ...], graph: Subgraph, where: str) -> list[str]:
        """The names that a signature gives to tensors; their own where it gives none."""
        given: dict[int, list[str]] = {}
        for table in tables:
            (i,) = self._ids((table.integer(1, "I"),), len(graph.tensors), where)
            given.setdefault(i, []).append(table.string(0))
        return [names.pop(0) if (names := given.get(i)) else graph.tensors[i].name for i in ids]


def _nibbles(data: memoryview) -> Iterator[int]:
    """Integers of four bits as bytes, the lower half of each byte first."""
    for byte in data:
        yield (byte & 15 ^ 8) - 8 & 255
        yield (byte >> 4 ^ 8) - 8 & 255


def _called(subgraphs: Sequence[Subgraph]) -> Iterator[int]:
    """The subgraphs that operators call."""
    for graph in subgraphs:
        for call in graph.operators:
            if options := call.options:
                yield from map(options.integer, _CALLERS.get(call.name, ()))
