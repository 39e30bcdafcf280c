"""Files of other kinds: the error names the kind, and the lines that it shows make a file that works."""

import gzip
import io
import json
import pickle
import struct
import subprocess
import zipfile

import numpy as np
import pytest
import webq8
from networks import EXPORT, python_with
from pte_writer import Pte
from webq8.errors import FormatError, Unsupported
from webq8.formats import FORMATS, sniff
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model/data.pkl", b"")
    return file.getvalue()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


HEADER = json.dumps({"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()

FOREIGN = {
    "there is nothing in it": b"",
    "an HTML page": b"\n <!DOCTYPE html>\n<html><title>404</title></html>",
    "an XML document": b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
    "JSON text": b'{"message": "Not Found"}',
    "text: 'Not found": b"Not found, and it never was here",
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
    "a bundled program": b"\x20\0\0\0BP08" + bytes(40),
    "weights without their program": b"\x20\0\0\0FT01" + bytes(40),
    "another version": b"\x20\0\0\0ET13" + bytes(40),
    "a GGUF model": b"GGUF\x03\0\0\0" + bytes(40),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(40),
    "safetensors": struct.pack("<Q", len(HEADER)) + HEADER + bytes(4),
    "a zip archive": _zip(),
    "a Python pickle": pickle.dumps({"weight": [1.0] * 20}),
    "compressed by gzip": gzip.compress(b"ET12" * 9),
    "a numpy array": _npy(),
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "begins with zeros": bytes(1000),
    "identifier b'\\x0b\\xd3": bytes.fromhex("f1d0c0de0bd30bd3f1d0c0de"),
    "3 bytes are too few": b"\x01\x02\x03",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_bytes_say_what_they_are(kind: str) -> None:
    with pytest.raises(FormatError) as caught:
        webq8.inspect(FOREIGN[kind])
    first = str(caught.value).splitlines()[0]
    assert kind in first
    assert first.startswith("program: ")
    assert len(first) < 200
    assert any(way in str(caught.value) for way in (". ", sniff.EXPORT))
    assert not any(known.recognizes(memoryview(FOREIGN[kind])) for known in FORMATS)


def test_a_converted_model_is_told_how_to_export() -> None:
    with pytest.raises(FormatError) as caught:
        webq8.inspect(FOREIGN["a GGUF model"])
    assert str(caught.value).endswith(sniff.EXPORT)


def test_the_lines_that_are_named_work() -> None:
    """They run where ExecuTorch is installed, on a small model, and give a file that can run."""
    model = "import torch\nmodel, inputs = torch.nn.Linear(3, 2), (torch.zeros(1, 3),)\n"
    code = model + "\n".join(line.strip() for line in sniff.EXPORT.splitlines())
    code = code.replace('open("model.pte", "wb")', "__import__('sys').stdout.buffer")
    python = python_with("export", EXPORT / "requirements.txt")
    made = subprocess.run([str(python), "-c", code], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr.decode()
    for method in read_program(made.stdout).methods.values():
        assert lower(method, "made").nodes


def test_the_readme_has_the_same_lines() -> None:
    lines = "\n".join(line.strip() for line in sniff.EXPORT.splitlines())
    assert lines in (EXPORT.parents[1] / "README.md").read_text("utf-8")


@pytest.mark.parametrize("backend", ["XnnpackBackend", "QnnBackend", "CoreMLBackend", "\x1b[31mred"])
def test_other_backends(backend: str) -> None:
    """Many delegates, one sentence, and the lines."""
    p = Pte()
    data = p.file(p.method([p.tensor([1])], [], [0], [0], delegates=[backend] * 3))
    with pytest.raises(Unsupported) as caught:
        lower(read_program(data).methods["forward"], "model.pte")
    text = str(caught.value)
    assert text.count("\n") == sniff.EXPORT.count("\n") + 1
    assert text.startswith("model.pte: its delegates are for the backend '")
    assert text.endswith(sniff.EXPORT)
    assert text.replace("\n", "").isprintable()
