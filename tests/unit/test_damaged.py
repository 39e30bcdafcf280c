"""Damaged files, and small ones that stand for much: an error of ours, soon, in little memory."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import fuzz
import pytest
import webq8
from pte_writer import Pte, one_call
from webq8.errors import LimitError, Unsupported
from webq8.stages import drive

CASES = {"pte": 20_000, "tflite": 5_000, "onnx": 5_000}
PROCESSES = 2
DAMAGED = sorted((fuzz.ROOT / "tests" / "data" / "damaged").glob("*.bin"))


@pytest.mark.parametrize("kind", CASES)
def test_thousands_of_damages(kind: str) -> None:
    """Each in one of two processes, which are watched for time and memory."""
    code = "import fuzz, sys; a, b, c = map(int, sys.argv[1:4]); sys.exit(fuzz.main(range(a, b, c), sys.argv[4]))"
    commands = [[sys.executable, "-c", code, str(i), str(CASES[kind]), str(PROCESSES), kind] for i in range(PROCESSES)]
    started = [subprocess.Popen(c, cwd=Path(fuzz.__file__).parent, stdout=subprocess.PIPE, text=True) for c in commands]
    for process in started:
        text, _ = process.communicate()
        assert process.returncode == 0, text
        assert "FormatError" in text
        assert "Unsupported" in text
        assert "sound" in text


@pytest.mark.parametrize("path", DAMAGED, ids=lambda p: p.stem)
def test_once_found(path: Path) -> None:
    failure = fuzz.watched(path.name, 0, path.read_bytes())
    assert failure.reason == ""
    assert failure.outcome in ("FormatError", "LimitError", "Unsupported")


# --- files that stand for more than they hold


def _full(count: int) -> bytes:
    """A tensor of `count` ones, out of two numbers."""
    return one_call(
        "aten::full.out", lambda p: [p.ints([3]), p.double(1.0), p.tensor([count]), p.integer(count)], output=2
    )


def _large_cut(p: Pte) -> list[int]:
    """Margins of 2³⁰ before an element, cut off after it."""
    margins = [p.integer(2**30), p.integer(-(2**30))]
    return [p.tensor([1], data=bytes(4)), p.ints([3, 4]), p.double(0.0), *margins, p.tensor([1])]


def _wide_map(p: Pte) -> list[int]:
    x, sizes = p.tensor([1, 1, 1, 1]), [p.integer(1), p.integer(2**27)]
    return [x, p.ints([4, 5]), p.none(), p.none(), *sizes, p.tensor([1, 1, 1, 2**27])]


def _shuffle_of_nothing(p: Pte) -> list[int]:
    return [p.tensor([1, 0, 0, 0], data=b""), p.integer(2**15), p.tensor([1, 0, 0, 0])]


def _methods_of_one_table(p: Pte) -> bytes:
    values = [p.tensor([2, 3])] * 2000
    table = p.parts(values)
    return p.file(*(p.method(table, [], [0], [0], f"method{i}") for i in range(500)))


def _doubled_constant(p: Pte) -> bytes:
    """A constant beside itself, and what that gives beside itself, 27 times."""
    values, calls = [p.integer(0), p.tensor([1], data=bytes(4))], []
    for i in range(27):
        values += [p.tensors([len(values) - 1] * 2), p.tensor([2 ** (i + 1)])]
        calls.append(("aten::cat.out", [len(values) - 2, 0, len(values) - 1, len(values) - 1]))
    return p.file(p.method(values, calls, [], [len(values) - 1]))


def _many(op: str, count: int, shared: Callable[[Pte], list[int]], shape: list[int], inputs: list[int]) -> bytes:
    """So many calls that have all arguments but for their outputs in common, which come first among the values."""
    p = Pte()
    values = shared(p)
    outs = range(len(values), len(values) + count)
    arguments = _SHARED_ARGUMENTS[op]
    calls = [(op, [*arguments, out, out]) for out in outs]
    size = p.numbers(shape, "int32")
    return p.file(p.method([*values, *(p.sized(size) for _ in outs)], calls, inputs, [*outs]))


_SHARED_ARGUMENTS = {"aten::cat.out": [1, 2], "aten::full.out": [1, 2], "aten::relu.out": [0]}

BOMBS: dict[str, Callable[[], bytes]] = {
    "full": lambda: _full(200_000_000),
    "full beyond u32": lambda: _full(2**31 - 1),
    "many fulls": lambda: _many(
        "aten::full.out", 500, lambda p: [p.integer(10**6), p.ints([0]), p.double(1.0)], [10**6], []
    ),
    "many large tensors": lambda: _many("aten::relu.out", 3000, lambda p: [p.tensor([2**25])], [2**25], [0]),
    "a list of one tensor in many calls": lambda: _many(
        "aten::cat.out", 2000, lambda p: [p.tensor([1]), p.tensors([0] * 5000), p.integer(0)], [5000], [0]
    ),
    "a tensor many times in a list": lambda: _many(
        "aten::cat.out", 1, lambda p: [p.tensor([1]), p.tensors([0] * 40_000), p.integer(0)], [40_000], [0]
    ),
    "doubled constants": lambda: _doubled_constant(Pte()),
    "margins that are cut off": lambda: one_call("aten::constant_pad_nd.out", _large_cut, arguments=[0, 1, 2]),
    "a shuffle of nothing": lambda: one_call("aten::pixel_shuffle.out", _shuffle_of_nothing),
    "a wide map": lambda: one_call("aten::upsample_nearest2d.out", _wide_map, [0], [0, 1, 2, 3]),
    "a million dimensions": lambda: one_call("aten::relu.out", lambda p: [p.tensor([2] * 10**6), p.tensor([2])]),
    "more elements than can be counted": lambda: one_call(
        "aten::relu.out", lambda p: [p.tensor([2**31 - 1] * 8), p.tensor([2**31 - 1] * 8)], inputs=[0]
    ),
    "methods of one table": lambda: _methods_of_one_table(Pte()),
    "one string many times": lambda: _shared(lambda p: p.string("x" * 100_000), 20_000),
    "one list many times": lambda: _shared(lambda p: p.doubles([0.5] * 20_000), 20_000),
    "one tensor many times": lambda: _shared(lambda p: p.tensor([2] * 8), 100_000),
    "a long name": lambda: _long_names(Pte()),
}


def _shared(value: Callable[[Pte], int], times: int) -> bytes:
    p = Pte()
    return p.file(p.method([p.tensor([1]), *[value(p)] * times], [], [0], [0]))


def _long_names(p: Pte) -> bytes:
    calls = [(f"aten::{'y' * 100_000}.out", [0, 0])] * 500
    return p.file(p.method([p.tensor([1])] * 2000, calls, [0], [0], "m" * 100_000))


@pytest.mark.parametrize("name", BOMBS)
def test_little_that_stands_for_much(name: str) -> None:
    """Read in a process of its own, so that its memory can be told."""
    data = BOMBS[name]()
    code = "import fuzz, sys; print(fuzz.watched('bomb', 0, sys.stdin.buffer.read()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=data, cwd=Path(fuzz.__file__).parent, capture_output=True, check=True)
    assert b"reason=''" in done.stdout, done.stdout
    allowed = {"margins that are cut off": "", "a shuffle of nothing": "", "a long name": "Unsupported"}
    expected = [allowed[name]] if name in allowed else ["FormatError", "LimitError"]
    assert any(f"outcome='{kind}'".encode() in done.stdout for kind in expected), done.stdout


def test_methods_that_have_one_reason_say_it_once() -> None:
    p = Pte()
    methods = [p.method([p.tensor([1], "float16")], [], [0], [0], f"method{i}") for i in range(9)]
    with pytest.raises(Unsupported, match=r"^program: float16 is not supported: [^\n]*$"):
        drive(webq8.load(p.file(*methods), device="cpu"))


def test_methods_with_many_reasons_name_a_few() -> None:
    p = Pte()
    calls = [[(f"aten::nothing{i}.out", [0, 1, 1])] for i in range(9)]
    methods = [p.method([p.tensor([1])] * 2, call, [0], [1], f"method{i}") for i, call in enumerate(calls)]
    with pytest.raises(Unsupported) as caught:
        drive(webq8.load(p.file(*methods), device="cpu"))
    assert str(caught.value).splitlines()[3:] == [
        "program, method 'method3': instruction 0: aten::nothing3.out: no such op in webq8",
        "… and 5 more",
    ]


def test_the_reference_takes_no_tensor_larger_than_memory() -> None:
    with pytest.raises(LimitError, match=r"needs 800,000,000 bytes; device=\"cpu\" allows 536,870,912"):
        drive(webq8.load(_full(200_000_000), device="cpu"))
