"""The errors that `planted.py` plants: each a text of one file, what takes its place, and the tests that find it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """`find` stands once in `file`; `tests` are arguments of pytest."""

    error: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]


def ops(*names: str) -> tuple[str, ...]:
    """The rows of some ops against the oracle."""
    return ("tests/unit/test_oracle.py", "-k", " or ".join(f"{name}-" for name in names))


def on_gpu(*rows: str) -> tuple[str, ...]:
    """Some rows on the GPU of a page."""
    return ("tests/browser/test_ops.py", "-k", f"test_op and ({' or '.join(rows)})")


PLANTED = (
    Planted(
        "height and width swapped in a convolution's output",
        "pkg/webq8/handlers/conv_float.py",
        '"O": (n, oc, *out[len(flat) :]),',
        '"O": (n, oc, *out[len(flat) :][::-1]),',
        ops("convolution"),
    ),
    Planted(
        "no rule of ceil_mode for a last window in the padding",
        "pkg/webq8/handlers/pool.py",
        "if a.ceil_mode and (out - 1) * stride >= size + padding:",
        "if False:",
        ops("max_pool2d"),
    ),
    Planted(
        "elu's scale and input_scale swapped",
        "pkg/webq8/handlers/elementwise.py",
        "scale=Number(default=1),\n    input_scale=Number(default=1),",
        "input_scale=Number(default=1),\n    scale=Number(default=1),",
        ops("elu"),
    ),
    Planted(
        "nearest element rounded, not cut",
        "pkg/webq8/handlers/upsample.py",
        "min(math.floor(f32(f32(i) * scale)), size - 1)",
        "min(round(f32(f32(i) * scale)), size - 1)",
        on_gpu("upsample_nearest2d-smaller"),
    ),
    Planted(
        "programs of ops kept without regard to constants",
        "pkg/webq8/ops.py",
        'self.key.append(f"{value.dtype} {value.shape} {hashlib.sha256(value._data).hexdigest()}")',
        'self.key.append(f"{value.dtype} {value.shape}")',
        ("tests/unit/test_ops.py", "-k", "constants_only"),
    ),
    Planted(
        "a fused clamp dropped",
        "pkg/webq8/rewrite.py",
        "before._replace(args=(*before.args[:-1], call.args[-1]), clamp=clamp)",
        "before._replace(args=(*before.args[:-1], call.args[-1]))",
        ("tests/unit/test_rewrite.py",),
    ),
    Planted(
        "memory shared one step too early",
        "pkg/webq8/memory.py",
        "low, high = self._leaves + span.first + 1, self._leaves + span.last + 2",
        "low, high = self._leaves + span.first + 1, self._leaves + span.last + 1",
        ("tests/unit/test_plan.py",),
    ),
    Planted(
        "pipelines kept without regard to overrides",
        "pkg/webq8/gpu.py",
        "key = (source, constants)",
        "key = (source,)",
        on_gpu("argmax-last", "argmin-last"),
    ),
    Planted(
        "bias dropped",
        "pkg/webq8/handlers/epilogue.py",
        "rows[0][start : start + 4] + rows[1][start : start + 4]",
        'rows[0][start : start + 4] + array("f", [0.0] * 4)',
        on_gpu("q8ta_linear-7x5x11"),
    ),
    Planted(
        "bias dropped in the reference",
        "pkg/webq8/reference/int8.py",
        "v = v + bias[:channels].reshape(shape)",
        "pass",
        ops("q8ta_linear"),
    ),
    Planted(
        "padding with 0, not with the zero point",
        "wgsl/conv2d.wgsl",
        "select(vec4<i32>(0), vec4<i32>(params.x_zero_point), inside)",
        "vec4<i32>(params.x_zero_point)",
        on_gpu("q8ta_conv2d-x-zp127"),
    ),
    Planted(
        "halves rounded up",
        "wgsl/prelude.wgsl",
        "return bitcast<vec4<i32>>(bounded + 0x1.8p23f) + (zero_point - 0x4b400000);",
        "return vec4<i32>(floor(bounded + 0.5)) + zero_point;",
        on_gpu("q8ta_add-torch-ties"),
    ),
    Planted(
        "halves rounded away from zero in the reference",
        "pkg/webq8/reference/quant.py",
        "np.rint(scaled)",
        "np.trunc(scaled + np.copysign(np.float32(0.5), scaled))",
        ops("quantize_per_tensor"),
    ),
    # --- one of each layer
    Planted(
        "reader: every constant of kernel calls is the first",
        "pkg/webq8/formats/pte.py",
        "data = segment[self._constant_offsets[index] :]",
        "data = segment[self._constant_offsets[0] :]",
        ("tests/unit/test_goldens.py", "-k", "kernel"),
    ),
    Planted(
        "lowering: a lower bound that is absent is 0",
        "pkg/webq8/handlers/conv_float.py",
        "output_min=Number(absent=-math.inf, default=None)",
        "output_min=Number(absent=0.0, default=None)",
        ops("conv_with_clamp"),
    ),
    Planted(
        "shape rule: a last window too few",
        "pkg/webq8/handlers/shape.py",
        "(shape[dim] - a.size) // a.step + 1",
        "max(1, (shape[dim] - a.size) // a.step)",
        ops("unfold"),
    ),
    Planted(
        "pass: of two clamps in a row, the second bounds nothing",
        "pkg/webq8/rewrite.py",
        "low, high = (min(max(v, low), high) for v in clamp)",
        "low, high = clamp",
        ("tests/unit/test_rewrite.py",),
    ),
    Planted(
        "planner: a folded grid lacks its last workgroups",
        "pkg/webq8/plan.py",
        "return cdiv(workgroups, rows), rows, 1",
        "return workgroups // rows, rows, 1",
        ("tests/unit/test_plan.py",),
    ),
    Planted(
        "memory: tensors of one dispatch in one buffer",
        "pkg/webq8/memory.py",
        "if buffer in forbidden:",
        "if buffer in forbidden and False:",
        ("tests/unit/test_memory.py",),
    ),
    Planted(
        "kernel choice: sums of float32 where they are too long to be exact",
        "pkg/webq8/handlers/conv.py",
        'constants={"long_sums": a.IC > _EXACT_PRODUCTS}',
        'constants={"long_sums": False}',
        on_gpu("q8ta_conv2d-25-bit-sums", "q8ta_conv2d-many-channels"),
    ),
    Planted(
        "WGSL: the dilation of columns for rows",
        "wgsl/conv2d_depthwise.wgsl",
        "top + i32(kh * params.dilation_height)",
        "top + i32(kh * params.dilation_width)",
        on_gpu("q8ta_conv2d_dw-torch-uneven"),
    ),
    Planted(
        "backend: the reference takes reciprocals in float32",
        "pkg/webq8/reference/quant.py",
        "return np.float32(1.0 / np.float64(scale))",
        "return np.float32(1) / np.float32(scale)",
        ops("quantize_per_tensor"),
    ),
    Planted(
        "inputs: numbers that a dtype does not hold are taken",
        "pkg/webq8/inputs.py",
        "    if back == tuple(values):\n        return packed, None\n    rounds",
        "    return packed, None\n    rounds",
        ("tests/unit/test_inputs.py",),
    ),
)
