"""Messages between desktop and page: every value comes back as it was, every exception as its kind."""

import asyncio
import math
from typing import Any

import numpy as np
import pytest
from webq8 import errors, transport
from webq8.errors import HostError, InputError, NoAdapter


def round_trip(value: Any) -> Any:
    return transport.unpack(transport.pack(value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**70),
        0.1,
        math.inf,
        -math.inf,
        "",
        "grüße \N{SNOWMAN}\x00",
        b"",
        b"\x00\xff",
        [],
        [1, [2.5, [None]]],
        (),
        (1, "two", (b"three",)),
        {},
        {"a": {"b": [1, (2, {"c": b"d"})]}},
        {1: "int", "1": "str", (2, 3): "tuple", None: "none"},
        {"tuple": [1], "array": 5},
    ],
    ids=repr,
)
def test_plain_values(value: Any) -> None:
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value)


def test_nan() -> None:
    assert math.isnan(round_trip(math.nan))


DTYPES = [
    "float32",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bool",
    "float16",
    "float64",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (1, 2, 3, 5), (0,), (3, 0), (0, 2)], ids=str)
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    back = round_trip(array)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_byte_orders_become_the_machine_s() -> None:
    array = np.arange(6, dtype=">i4").reshape(2, 3)
    back = round_trip(array)
    assert back.dtype == np.dtype("<i4")
    np.testing.assert_array_equal(back, array)


def test_bits_of_floats_survive() -> None:
    bits = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 1], np.uint32).view(np.int32)
    assert (round_trip(bits.view(np.float32)).view(np.int32) == bits).all()


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[:, ::-1], np.s_[:, 1]], ids=str)
def test_arrays_that_are_not_contiguous(view: Any) -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)[view]
    assert (round_trip(array) == array).all()
    assert (round_trip(array.T) == array.T).all()


def test_several_arrays_do_not_mix() -> None:
    arrays = [np.full(size, size, np.int8) for size in (1, 15, 16, 17, 0, 3)]
    back = round_trip({"all": arrays, "bytes": b"abc"})
    assert all((a == b).all() for a, b in zip(arrays, back["all"], strict=True))
    assert back["bytes"] == b"abc"


def test_arrays_are_writable_where_the_message_is() -> None:
    back = transport.unpack(bytearray(transport.pack(np.zeros(3))))
    back[1] = 5
    assert back.tolist() == [0, 5, 0]


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, np.zeros(2, np.complex64)], ids=lambda v: type(v).__name__)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="a value sent between page and desktop"):
        transport.pack([value])


def call(source: str, *args: Any, **kwargs: Any) -> Any:
    """Both sides of a call, in this process."""
    request: transport.Request = {"source": source, "name": "main", "args": list(args), "kwargs": kwargs}
    return transport.result(asyncio.run(transport.answer(transport.pack(request))))


def test_call() -> None:
    source = "def main(a, *, b): return [a, b, webq8.errors.HostError.__name__]"
    assert call(source, 1, b=2) == [1, 2, "HostError"]


def test_call_of_async_function() -> None:
    assert call("import asyncio\nasync def main(x):\n  await asyncio.sleep(0)\n  return x + 1", 1) == 2


def test_names_in_annotations_need_not_exist() -> None:
    assert call("def main(x: Sequence[Foo]) -> np.ndarray: return x", 3) == 3


def test_every_call_has_a_namespace_of_its_own() -> None:
    call("kept = 1\ndef main(): global kept; kept = 2")
    with pytest.raises(NameError):
        call("def main(): return kept")


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.Webq8Error)]


@pytest.mark.parametrize("kind", KINDS)
def test_exceptions_of_webq8_keep_their_class(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        call(f"def main(): raise webq8.errors.{kind.__name__}('why')")
    assert type(caught.value) is kind
    assert caught.value.args == ("why",)


def test_builtin_exceptions_keep_class_and_arguments() -> None:
    with pytest.raises(KeyError) as caught:
        call("def main(): {}['x']")
    assert caught.value.args == ("x",)
    with pytest.raises(UnicodeDecodeError):
        call("def main(): b'\\xff'.decode()")


def test_exception_tells_where_in_the_page() -> None:
    with pytest.raises(NoAdapter) as caught:
        call("def main():\n  raise webq8.errors.NoAdapter('none')")
    assert "line 2, in main\n    raise webq8.errors.NoAdapter" in caught.value.__notes__[0]


def test_an_answer_that_is_too_large_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BYTES", 1000)
    assert call("def main(): return bytes(500)") == bytes(500)
    with pytest.raises(errors.LimitError, match=r"what main returned takes [\d,]+ bytes of 1,000"):
        call("def main(): return bytes(1000)")


@pytest.mark.parametrize(
    "source",
    [
        "class Own(Exception): pass\ndef main(): raise Own('mine')",
        "def main(): raise SystemExit('mine')",
        "import json\ndef main(): json.loads('mine')",
    ],
)
def test_other_exceptions_become_host_error_with_the_trace(source: str) -> None:
    with pytest.raises(HostError, match=r"(?s)the page's Python failed.*in main"):
        call(source)


@pytest.mark.parametrize(("source", "kind"), [("def main(:", SyntaxError), ("x = 1", KeyError)])
def test_source_without_main(source: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call(source)


def test_result_that_cannot_travel() -> None:
    with pytest.raises(InputError, match="a object is not an array"):
        call("def main(): return object()")
