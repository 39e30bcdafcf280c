"""Renders the kernels into rendered/, where something has changed since: each with all parts that it uses, and without
comments, so that a page reads one small file a kernel. Kernels whose text is unrolled are templates, *.wgsl.jinja.

Runs when a wheel is built (build_hook.py) and when a checkout first needs its kernels (webq8/paths.py).
"""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent
RENDERED = FOLDER / "rendered"
USES = re.compile(r"^// uses (\w+)\n", re.MULTILINE)
DIRECTIVE = re.compile(r"^(?:enable|requires|diagnostic\().*\n", re.MULTILINE)
COMMENT = re.compile(r"\s*//.*")
# A device has one of these; webq8/kernels/wgsl.py puts it before the kernels that use "dot4".
DOT4 = ("dot4_packed", "dot4_plain")
# What a kernel that uses "result" is rendered with, under its own name, and under that with "_dynamic".
RESULTS = {"": "result_quantized", "_dynamic": "result_dynamic"}
PRODUCTS = ("gemm", "gemm_matrix", "gemm_matrix_64", "gemm_small", "gemm_narrow", "gemm_deep", "linear", "linear_gemv")


def render() -> None:
    templates = sorted(FOLDER.glob("*.wgsl.jinja"))
    kernels = {file.name.split(".")[0]: (file, "") for file in [*FOLDER.glob("*.wgsl"), *templates]}
    kernels |= {f"{name}{kind}": (kernels[name][0], kind) for name in PRODUCTS for kind in RESULTS}
    targets = {RENDERED / f"{name}.wgsl": kernel for name, kernel in kernels.items()}
    targets |= {RENDERED / "parts" / f"{name}.wgsl": (_part(name), "") for name in DOT4}
    there = {*RENDERED.rglob("*.wgsl")}
    sources = [*(file for file, _ in targets.values()), *FOLDER.glob("parts/*"), Path(__file__)]
    newest = max(file.stat().st_mtime_ns for file in sources)
    if there == targets.keys() and all(file.stat().st_mtime_ns > newest for file in there):
        return
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    (RENDERED / "parts").mkdir(parents=True, exist_ok=True)
    for target, (file, kind) in targets.items():
        text = environment.get_template(file.name).render() if file in templates else file.read_text("utf-8")
        part = target.with_name(f".{target.name}.{os.getpid()}")  # other processes may render as well
        part.write_text(plain(text) if file.stem in DOT4 else assembled(text, kind), "utf-8")
        part.replace(target)
    for left_over in there - targets.keys():
        left_over.unlink(missing_ok=True)


def assembled(text: str, kind: str = "") -> str:
    """A kernel's text after those of all parts that it uses, each once; with the result of a kind."""
    used = dict[str, str]()
    _use(text, used, kind)
    whole = "".join([*used.values(), text])
    head = "// uses dot4\n" if used.keys() >= {*DOT4} else ""
    # WGSL wants directives before anything else
    return head + "".join(DIRECTIVE.findall(whole)) + plain(DIRECTIVE.sub("", whole))


def _use(text: str, used: dict[str, str], kind: str) -> None:
    for part in USES.findall(text):
        for name in {"dot4": DOT4, "result": (RESULTS[kind],)}.get(part, (part,)):
            if name not in used:
                own = _part(name).read_text("utf-8")
                _use(own, used, kind)
                used[name] = "" if name in DOT4 else own


def plain(text: str) -> str:
    """Without comments and empty lines."""
    return re.sub(r"\n+", "\n", COMMENT.sub("", text)).lstrip("\n")


def _part(name: str) -> Path:
    return FOLDER / "parts" / f"{name}.wgsl"


if __name__ == "__main__":
    render()
