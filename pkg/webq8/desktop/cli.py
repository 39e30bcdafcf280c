"""The `webq8` command: run and inspect models, serve the page, set up what it needs.

Exit status: 0; 2 for a bad argument or file; 3 for no (fitting) WebGPU adapter; 1 for anything else that went wrong.
"""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
import webbrowser
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np

from webq8 import __version__, inspect, load
from webq8.backends.find import DEVICES
from webq8.desktop import assets, listing
from webq8.desktop.bytecode import compile_wheels
from webq8.desktop.chrome import Gpu, find_chrome, install_chrome
from webq8.desktop.files import check_replaceable, replacing
from webq8.desktop.site import DEFAULT_PYODIDE, PYODIDES, Site
from webq8.errors import (
    FormatError,
    HostError,
    InputError,
    LimitError,
    NoAdapter,
    Problem,
    Unsupported,
    Webq8Error,
    plain,
)
from webq8.formats import Shapes
from webq8.stages import drive

__all__ = ["main"]

BAD_INPUT = (FormatError, Unsupported, InputError, LimitError)


def main(argv: Sequence[str] | None = None) -> int:
    logging.getLogger("webq8").addHandler(logging.NullHandler())  # the one reason below says enough
    try:
        args = _parser().parse_args(argv)
        args.command(args)
    except BAD_INPUT as error:
        return _failed(str(error), 2)  # its lists and lines of code stay lines
    except NoAdapter as error:
        return _failed(_one_line(error), 3)
    except Webq8Error as error:
        return _failed(_one_line(error), 1)
    except KeyboardInterrupt:
        return _failed("interrupted", 1)
    except BrokenPipeError:  # whoever reads the output, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes when it ends
        return 1
    except Exception as error:
        if os.environ.get("WEBQ8_DEBUG"):
            raise
        return _failed(f"{type(error).__name__}: {_one_line(error)} (set WEBQ8_DEBUG=1 to see where)", 1)
    return 0


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _failed(reason: str, status: int) -> int:
    print("webq8:", reason, file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see `{self.prog} --help`)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="webq8", description="Runs int8 TFLite, ONNX and ExecuTorch models on the GPU inside a web page."
    )
    parser.add_argument("--version", action="version", version=f"webq8 {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a model in headless Chromium, or here, and print one JSON line")
    run.set_defaults(command=_run)
    run.add_argument("model", type=_file, metavar="MODEL", help="a .tflite, .onnx or .pte file")
    run.add_argument(
        "--inputs", type=_file, required=True, metavar="IN.npz", help="arrays by the inputs' names, or in0, in1, ..."
    )
    run.add_argument(
        "--outputs", type=_target, required=True, metavar="OUT.npz", help="gets arrays by the outputs' names"
    )
    run.add_argument("--method", help="the method to run (default: forward, or the only one)")
    _add_shapes(run)
    run.add_argument(
        "--device",
        choices=DEVICES,
        default="webgpu",
        help="webgpu is a browser's, native this machine's GPU without one, cpu the slow reference in numpy",
    )
    run.add_argument(
        "--repeat", type=_count, default=1, metavar="N", help="run N times; the median leaves out the first of several"
    )
    run.add_argument("--profile", action="store_true", help="print a table of each dispatch's GPU time as well")
    run.add_argument("--trace", type=_target, metavar="FILE", help="profile, and write a trace for ui.perfetto.dev")
    run.add_argument("--chrome", metavar="PATH", help="the browser (default: $WEBQ8_CHROME, or an installed one)")
    run.add_argument("--gpu", choices=get_args(Gpu), default="swiftshader", help="the kind of adapter to insist on")
    run.add_argument("--pyodide", choices=PYODIDES, default=DEFAULT_PYODIDE, metavar="VERSION")
    run.add_argument(
        "--timeout",
        type=float,
        default=600,
        metavar="SECONDS",
        help="for the page to start, and to answer",
    )

    ops = commands.add_parser("ops", help="list the ops webq8 has")
    ops.set_defaults(command=_ops)
    ops.add_argument("--markdown", action="store_true", help="print pkg/OPS.md")

    show = commands.add_parser("inspect", help="show a model's methods, ops, and what is unsupported")
    show.set_defaults(command=_inspect)
    show.add_argument("model", type=_file, metavar="MODEL", help="a .tflite, .onnx or .pte file")
    show.add_argument("--json", action="store_true", help="print JSON")
    _add_shapes(show)

    serve = commands.add_parser("serve", help="serve the demo page on this machine")
    serve.set_defaults(command=_serve)
    serve.add_argument("--port", type=int, default=8000, help="0 takes any free one (default: 8000)")
    serve.add_argument("--open", action="store_true", help="open the page in the default browser")

    site = commands.add_parser("site", help="write the demo page as a folder for any static host")
    site.set_defaults(command=_site)
    site.add_argument("directory", type=Path, metavar="DIR")

    setup = commands.add_parser("setup", help="fetch Pyodide and its wheels, and look for a browser")
    setup.set_defaults(command=_setup)
    setup.add_argument("--install-chromium", action="store_true", help="install Chromium where no browser is found")
    return parser


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return path


def _target(text: str) -> Path:
    try:
        check_replaceable(Path(text))
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


def _shape(text: str) -> tuple[str, int | list[int]]:
    """NAME=SIZE for a symbol, NAME=SIZE,SIZE,… for an input, whose name may have an equals sign in it."""
    name, _, sizes = text.rpartition("=")
    numbers = sizes.split(",")
    if not name or not all(map(str.isdecimal, numbers)):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZE, or NAME=SIZE,SIZE,...")
    return name, int(sizes) if len(numbers) == 1 else [*map(int, numbers)]


def _add_shapes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--shape",
        type=_shape,
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="the size of a symbol of an .onnx file (batch=1), or a whole shape of an input (x=1,3,224,224); repeats",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


# --- run


def _run(args: argparse.Namespace) -> None:
    _check_files(args)
    inputs = _read_inputs(args.inputs)
    call = {"device": args.device, "method": args.method, "inputs": inputs, "repeat": args.repeat}
    call["shapes"] = dict(args.shape)
    call["profile"] = args.profile or args.trace is not None
    if args.device != "webgpu":
        report, outputs, profile = asyncio.run(measure(str(args.model), **call))
    else:
        from webq8.desktop.host import Browser  # which takes its time to import

        _check_call(args.model, args.method, inputs, dict(args.shape))
        with Browser(chrome=args.chrome, gpu=args.gpu) as browser:
            source = browser.site.add(f"/files/{args.model.name}", args.model)
            with browser.page(args.pyodide, timeout=args.timeout) as page:
                page.check_adapter()
                report, outputs, profile = page.call(measure, source, **call)
    _write_outputs(args.outputs, outputs)
    print(json.dumps({"model": str(args.model), "device": args.device, **report}))
    if args.profile:
        print(f"\n{profile['table']}")
    if args.trace:
        with replacing(args.trace) as file:
            file.write(json.dumps(profile["trace"]).encode())


def _check_files(args: argparse.Namespace) -> None:
    """No file of the command is written over another one."""
    seen = {args.model.resolve(): "MODEL", args.inputs.resolve(): "--inputs"}
    for option, path in (("--outputs", args.outputs), ("--trace", args.trace)):
        if path is not None and (other := seen.setdefault(path.resolve(), option)) != option:
            raise InputError(f"{option} would write over {other}: {path}")


def _check_call(model: Path, method: str | None, inputs: Sequence[Any], shapes: Shapes) -> None:
    """Tells what is wrong with the file or the inputs before a browser starts; what fits a device, only it knows."""
    with suppress(LimitError):
        drive(load(model, device="cpu", shapes=shapes)).check(*inputs, method=method)


async def measure(
    source: str, device: Any, method: str | None, inputs: Any, repeat: int, shapes: Any, profile: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Load, run and profile a model. It stands alone, since it runs in the page as well as here."""
    import time

    import webq8

    def ms_since(start: float) -> float:
        return round((time.perf_counter() - start) * 1000, 3)

    start = time.perf_counter()
    program = await webq8.load(source, device=device, shapes=shapes)
    load_ms = ms_since(start)
    with program:
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            outputs = await program(*inputs, method=method)
            times.append(ms_since(start))
        later = sorted(times[1:] or times)
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        named = {spec.name: y for spec, y in zip(program.spec(method).outputs, results, strict=True)}
        report = {
            "adapter": str(program.adapter) if program.adapter else None,
            "dispatches": program.dispatches(method),
            "submits": program.submits // repeat,
            "load_ms": load_ms,
            "first_ms": times[0],
            "median_ms": later[len(later) // 2],
        }
        told = {}
        if profile:
            profiled = await program.profile(*inputs, method=method)
            told = {"table": str(profiled), "trace": profiled.trace()}
    return report, named, told


def _read_inputs(path: Path) -> list[Any]:
    """The arrays as arguments of a call: in order where their names number them, else by name."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not an .npz file of plain arrays: {error}") from error
    numbered = [f"in{i}" for i in range(len(arrays))]
    return [arrays[name] for name in numbered] if set(arrays) == set(numbered) else [arrays]


def _write_outputs(path: Path, outputs: Mapping[str, Any]) -> None:
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, output in outputs.items():  # savez takes no array of the name "file"
            with archive.open(f"{name}.npy", "w", force_zip64=True) as array:
                np.lib.format.write_array(array, np.asarray(output))


# --- the other commands


def _ops(args: argparse.Namespace) -> None:
    if args.markdown:
        print(listing.markdown(), end="")
        return
    for names, tensors, result, _ in listing.rows():
        print(f"{names}\n    ({tensors}) -> {result}")


def _inspect(args: argparse.Namespace) -> None:
    found = inspect(args.model, dict(args.shape))
    print(json.dumps(found) if args.json else _as_text(args.model, found["methods"]))


def _as_text(model: Path, methods: Mapping[str, Any]) -> str:
    lines = [str(model)]
    for name, method in methods.items():
        takes, gives = (", ".join(map(_spec, method[key])) or "nothing" for key in ("inputs", "outputs"))
        lines += ["", f"{plain(name)}: {takes} -> {gives}"]
        width = max((len(row["op"]) for row in method["runs"]), default=0)
        for row in method["runs"]:
            runs = ": ".join(filter(None, (row["runs"], row["reason"].partition("\n")[0])))
            lines.append(f"  {row['count']:4} x {row['op']:{width}}  {runs}")
        if method["unsupported"]:
            lines += ["  cannot run:"]
            lines += [f"    {Problem(p['node'], p['op'], p['reason'])}" for p in method["unsupported"]]
        else:
            changes = f"{method['relayouts']} of them to change a layout"
            lines += [
                f"  can run, in {method['dispatches']} GPU dispatches, {changes}",
                f"  activations take {method['peak_bytes']:,} bytes ({method['live_bytes']:,} are live at once)",
            ]
    return "\n".join(lines)


def _spec(found: Mapping[str, Any]) -> str:
    what = repr(found["value"]) if "value" in found else f"{found['dtype']}{found['shape']}"
    by = f" of scale {found['scale']:.6g}, zero point {found['zero_point']}" if "scale" in found else ""
    return f"{plain(found['name'])}: {what}{by}"


def _serve(args: argparse.Namespace) -> None:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Site(args.port) as site:
        for version in PYODIDES:
            site.add_runtime(version)
        print(f"webq8: serving {site.url} (stop with Ctrl-C)", flush=True)
        if args.open:
            webbrowser.open(site.url)
        while not stop.wait(1):  # with a limit, since Windows handles no signals in a wait without one
            pass


def _site(args: argparse.Namespace) -> None:
    with Site() as site:
        for version in PYODIDES:
            site.add_runtime(version)
        compile_wheels(site)
        site.export(args.directory)
    print(f"webq8: wrote the site to {args.directory}")


def _setup(args: argparse.Namespace) -> None:
    for bundle in assets.load_table().values():
        assets.fetch(bundle)
    print(f"webq8: Pyodide {' and '.join(PYODIDES)} with wheels: {assets.cache_dir()}")
    try:
        chrome = find_chrome()
    except HostError:
        if not args.install_chromium or os.environ.get("WEBQ8_CHROME"):
            raise
        chrome = install_chrome()
    print(f"webq8: browser: {chrome}")


if __name__ == "__main__":
    sys.exit(main())
