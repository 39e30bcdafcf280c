"""Rendering and reflection of wgsl/, packing by name, what every browser's compiler and the weakest devices take."""

import re
import runpy
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from webq8.errors import LimitError
from webq8.kernels import wgsl
from webq8.paths import resource_dir
from webq8.runtime import ceilings

SOURCES = Path(__file__).parents[2] / "wgsl"


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_reflection(name: str) -> None:
    kernel = wgsl.kernel(name)
    assert [b.index for b in kernel.bindings] == list(range(len(kernel.bindings)))
    assert [b.name for b in kernel.bindings if b.type == "uniform"] == ["params"]
    assert "@compute" in wgsl.module_source(name, "dot4_packed")


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_limits_of_compatibility_devices(name: str) -> None:
    """WebGPU's limits for `featureLevel: "compatibility"`, which are those of core devices or below."""
    kernel = wgsl.kernel(name)
    assert kernel.workgroup_size <= 128  # maxComputeInvocationsPerWorkgroup
    assert len(kernel.bindings) - 1 <= 8  # maxStorageBuffersPerShaderStage
    assert kernel.packing.size <= 2**14  # maxUniformBufferBindingSize


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_structs_of_uniform_buffers(name: str) -> None:
    """Structs and vectors stand at multiples of 16, numbers before them: so packing and all compilers agree."""
    source = wgsl.module_source(name, "dot4_packed")
    [fields] = re.findall(r"struct Params \{\n(.*?)\n\}", source, re.DOTALL)
    kinds = re.findall(r"^  (@align\(16\) )?\w+: (.*),$", fields, re.MULTILINE)
    assert len(kinds) == len(fields.splitlines()) == len(wgsl.kernel(name).params)
    numbers = [kind in ("u32", "i32", "f32") for _, kind in kinds]
    assert numbers == sorted(numbers, reverse=True)
    for aligned, kind in kinds:
        if kind[0].isupper():
            [inner] = re.findall(rf"struct {kind} \{{\n(.*?)\n\}}", source, re.DOTALL)
            assert aligned or "vec4<" in inner, kind


def overrides_in_workgroup_arrays(source: str) -> list[str]:
    """Workgroup variables whose type has an override in it, whatever constants and aliases it goes through."""
    named = re.findall(r"(?:const|override|alias)\s+(\w+)[^=;]*=([^;]*);|struct\s+(\w+)\s*\{([^}]*)\}", source)
    definitions = {a or c: b or d for a, b, c, d in named}
    overrides = set(re.findall(r"override\s+(\w+)", source))

    def reached(text: str) -> set[str]:
        found, new = set[str](), set(re.findall(r"\w+", text))
        while new := new - found:
            found |= new
            new = {word for name in new for word in re.findall(r"\w+", definitions.get(name, ""))}
        return found

    variables = re.findall(r"var<workgroup>\s*(\w+)\s*:([^;]*);", source)
    return [name for name, kind in variables if reached(kind) & overrides]


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_no_override_in_a_workgroup_array(name: str) -> None:
    """Firefox's compiler may die of one, and Safari's does not put in its value."""
    source = re.sub(r"//.*", "", wgsl.module_source(name, "dot4_packed"))
    assert overrides_in_workgroup_arrays(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "override n: u32 = 4u; var<workgroup> a: array<u32, n>;",
        "override n = 4u; const m = 2u * n; var<workgroup> a: array<array<u32, 3>, m + 1u>;",
        "override n = 4u; alias Row = array<u32, n>; struct Tile { rows: Row } var<workgroup> a: Tile;",
    ],
)
def test_overrides_in_workgroup_arrays_are_found(source: str) -> None:
    assert overrides_in_workgroup_arrays(source) == ["a"]


def test_sources_differ_by_language_feature_only() -> None:
    packed, plain = (wgsl.module_source("gemm", part) for part in ("dot4_packed", "dot4_plain"))
    assert "dot4I8Packed(" in packed
    assert "dot4I8Packed" not in plain
    assert packed.startswith("requires ")


TENSOR = {"words": 1, "channels": 2, "inner": 3, "channel_words": 4}
BY = {"scale": 2.0, "inv_scale": 0.5, "zero_point": -7, "low": -128.0, "high": 127.0}
QUANTIZE = {"by": BY, "tensor": TENSOR}


def test_params_by_name() -> None:
    data = wgsl.pack_params(wgsl.kernel("quantize"), QUANTIZE)
    assert data == struct.pack("<2fi2f12x4I", 2.0, 0.5, -7, -128.0, 127.0, 1, 2, 3, 4)


def test_params_are_aligned() -> None:
    arithmetic = dict.fromkeys(("a_scale", "b_scale", "alpha", "inv_y_scale", "y_min", "y_max", "y_scale"), 0.5)
    arithmetic |= dict.fromkeys(("a_zero_point", "b_zero_point", "y_zero_point"), -1)
    arithmetic |= {"a_multiplier": 2, "b_multiplier": 3, "bias": -4, "shift": 5}
    values = {"rank": 5, "tensor": TENSOR, "axes": (6, 7, 8, 0, 9), "arithmetic": arithmetic}
    values |= {"a_by": BY, "b_by": BY, "written": {"scale": 1.5, "zero_point": 9, "tensor": TENSOR}}
    data = wgsl.pack_params(wgsl.kernel("binary_int8"), values)
    expected = struct.pack(
        "<I12x4I5I108xififffiff3iIf8x2fi2f12x2fi2f12xfi8x4I",
        5,
        1,
        2,
        3,
        4,
        6,
        7,
        8,
        0,
        9,
        *[-1, 0.5] * 2,
        0.5,
        0.5,
        -1,
        0.5,
        0.5,
        2,
        3,
        -4,
        5,
        0.5,
        *[2.0, 0.5, -7, -128.0, 127.0] * 2,
        *(1.5, 9, 1, 2, 3, 4),
    )
    assert data == expected
    reduction = {"results": 1, "count": 2, "divisor": 3.0}
    axes = {"sizes": (4, 5, 6, 7), "strides": (8, 9, 10, 11)}
    data = wgsl.pack_params(wgsl.kernel("reduce_sum"), reduction | {"kept": axes, "reduced": axes})
    assert data == struct.pack("<2If4x16I", 1, 2, 3.0, *[*range(4, 12)] * 2)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"typo": 1}, r"quantize\.wgsl: .*'typo'"),
        ({"tensor": {**TENSOR, "typo": 1}}, "tensor: .*'typo'"),
        ({"tensor": {"words": 1, "channels": 2, "inner": 3}}, "tensor: .*'channel_words'"),
    ],
)
def test_params_that_differ(change: dict[str, object], match: str) -> None:
    with pytest.raises(KeyError, match=match):
        wgsl.pack_params(wgsl.kernel("quantize"), QUANTIZE | change)
    with pytest.raises(KeyError, match="tensor"):
        wgsl.pack_params(wgsl.kernel("quantize"), {name: v for name, v in QUANTIZE.items() if name != "tensor"})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"tensor": {**TENSOR, "channel_words": 2**32}}, r"channel words = 4294967296 does not fit 0…4294967295"),
        ({"by": {**BY, "zero_point": -(2**31) - 1}}, "zero point = -2147483649 does not fit"),
        ({"by": {**BY, "inv_scale": 1e39}}, "inv scale = 1e"),
    ],
)
def test_params_that_do_not_fit(change: dict[str, object], match: str) -> None:
    with pytest.raises(LimitError, match=match):
        wgsl.pack_params(wgsl.kernel("quantize"), QUANTIZE | change)


def test_overrides_by_name() -> None:
    given = {"function": "reciprocal", "integer": False}
    assert wgsl.override_values(wgsl.kernel("unary"), given) == {"function": 23, "integer": False}
    assert wgsl.override_values(wgsl.kernel("index_write"), {"operation": "ADD_TRUTHS", "item": 8}) == {
        "operation": 3,
        "item": 8,
    }
    with pytest.raises(KeyError, match=r"unary\.wgsl has no constant COSH, only .*'COS'"):
        wgsl.override_values(wgsl.kernel("unary"), {"function": "cosh"})


def test_constants_differ() -> None:
    """Those that stand together, which are what an override may be."""
    texts = [file.read_text("utf-8") for file in SOURCES.rglob("*.wgsl") if "rendered" not in file.parts]
    runs = [run for text in texts for run in re.findall(r"(?:^const [A-Z_0-9]+ = \d+u;.*\n)+", text, re.MULTILINE)]
    assert len(runs) > 8
    for run in runs:
        numbers = re.findall(r"= (\d+)u", run)
        assert len({*numbers}) == len(numbers), run


# --- rendering


def copy_of_sources(folder: Path) -> Path:
    """A copy of wgsl/ that nothing was rendered from yet."""
    return shutil.copytree(SOURCES, folder / "wgsl", ignore=shutil.ignore_patterns("rendered", "__pycache__"))


def rendered(sources: Path) -> dict[str, str]:
    """What the script for it renders."""
    subprocess.run([sys.executable, sources / "render.py"], check=True)
    files = (sources / "rendered").rglob("*.wgsl")
    return {file.relative_to(sources / "rendered").as_posix(): file.read_text("utf-8") for file in files}


def test_kernels_are_rendered_where_something_changed(tmp_path: Path) -> None:
    sources = copy_of_sources(tmp_path)
    first = rendered(sources)
    shipped = resource_dir("wgsl")
    assert first == {file.relative_to(shipped).as_posix(): file.read_text("utf-8") for file in shipped.rglob("*.wgsl")}
    before = {name: (sources / "rendered" / name).stat().st_mtime_ns for name in first}
    assert rendered(sources) == first
    assert {name: (sources / "rendered" / name).stat().st_mtime_ns for name in first} == before

    part = sources / "parts" / "grid.wgsl"
    part.write_text(part.read_text("utf-8").replace("id.x + id.y * grid.x", "id.x"))
    (sources / "relayout.wgsl").rename(sources / "relaid.wgsl")
    second = rendered(sources)
    assert first.keys() - second.keys() == {"relayout.wgsl"}
    assert second["relaid.wgsl"] == first["relayout.wgsl"].replace("id.x + id.y * grid.x", "id.x")

    template = sources / "parts" / "gemm_matrix.wgsl.jinja"
    template.write_text(template.read_text("utf-8").replace("accumulators", "nothing"))
    third = rendered(sources)
    changed = {f"gemm_matrix{size}{result}.wgsl" for size in ("", "_64") for result in ("", "_dynamic")}
    assert {name for name in third if third[name] != second[name]} == changed


def test_parts_are_used_once(tmp_path: Path) -> None:
    assembled = runpy.run_path(str(SOURCES / "render.py"))["assembled"]
    text = assembled("enable f16;\n// uses epilogue\n// uses dot4\n// uses int8\n// text\n\nfn run() {}  // more\n")
    assert text.startswith("// uses dot4\nenable f16;\nfn pack(")
    assert text.endswith("\nfn run() {}\n")
    assert [text.count(f"fn {name}(") for name in ("pack", "rounded", "requantized", "widened")] == [1, 1, 1, 1]
    assert text.count("//") == 1


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_a_module_is_whole(name: str) -> None:
    """Directives come first, and nothing is declared twice."""
    for dot4 in ("dot4_packed", "dot4_plain"):
        source = wgsl.module_source(name, dot4)
        body = re.sub(r"^(?:// uses dot4|(?:enable|requires|diagnostic\().*)\n", "", source, flags=re.MULTILINE)
        first = re.search(r"^(?:fn|const|override|struct|alias|var|@)", source, re.MULTILINE)
        assert first is not None
        assert not re.findall(r"^(?:enable|requires|diagnostic)", source[first.start() :], re.MULTILINE)
        declared = re.findall(r"^(?:fn|const|override|struct|alias|var<\w+>|@group.*?>) (\w+)", body, re.MULTILINE)
        assert len({*declared}) == len(declared), declared
        assert source.count("@compute") == 1


def test_every_part_is_used() -> None:
    texts = [file.read_text("utf-8") for file in SOURCES.rglob("*") if file.suffix in (".wgsl", ".jinja")]
    used = {name for text in texts for name in re.findall(r"^// uses (\w+)$", text, re.MULTILINE)}
    chosen = {"dot4": {"dot4_packed", "dot4_plain"}, "result": {"result_quantized", "result_dynamic"}}
    assert used >= chosen.keys()
    parts = {part for name in used for part in chosen.get(name, {name})}
    assert {file.stem for file in (SOURCES / "parts").glob("*.wgsl")} == parts


def test_every_kernel_is_used() -> None:
    """Names in the text of those that launch kernels: one that nothing launches is dead."""
    files = [*Path(wgsl.__file__).parent.glob("*.py"), Path(ceilings.__file__)]
    text = re.sub(r"__all__.*?\]", "", "".join(file.read_text("utf-8") for file in files), flags=re.DOTALL)
    assert "{name}_dynamic" in text
    assert [name for name in wgsl.kernel_names() if f'"{name.removesuffix("_dynamic")}"' not in text] == []
