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


def on_gpu(*names: str) -> tuple[str, ...]:
    """The rows of some ops on the desktop's GPU, by the kernels of each class of devices."""
    return ("tests/native/test_ops_native.py", "-k", f"test_op and ({' or '.join(f'-{name}]' for name in names)})")


def in_page(*rows: str) -> tuple[str, ...]:
    """Some rows on the GPU of a page."""
    return ("tests/browser/test_ops.py", "-k", f"test_op and ({' or '.join(rows)})")


PLANTED = (
    Planted(
        "height and width swapped in a convolution's output",
        "pkg/webq8/ir/ops/conv.py",
        "(x[0], oc, *out[2 - axes :])",
        "(x[0], oc, *out[2 - axes :][::-1])",
        ops("convolution"),
    ),
    Planted(
        "no rule of ceil_mode for a last window in the padding",
        "pkg/webq8/ir/ops/window.py",
        "if ceil_mode and (out - 1) * stride >= size + before:",
        "if False:",
        ops("max_pool2d"),
    ),
    Planted(
        "elu's scale and input_scale swapped",
        "pkg/webq8/formats/pte/operators/elementwise.py",
        "Elu(x.ref, alpha=alpha, scale=scale, input_scale=input_scale)",
        "Elu(x.ref, alpha=alpha, scale=input_scale, input_scale=scale)",
        ops("elu"),
    ),
    Planted(
        "nearest element rounded, not cut",
        "pkg/webq8/kernels/resize.py",
        "min(math.floor(f32(f32(i) * scale)), size - 1)",
        "min(round(f32(f32(i) * scale)), size - 1)",
        on_gpu("upsample_nearest2d"),
    ),
    Planted(
        "programs of ops kept without regard to constants",
        "pkg/webq8/ops.py",
        "tuple(self.inputs), *self.constants)",
        "tuple(self.inputs))",
        ("tests/unit/test_ops.py", "-k", "constants_only"),
    ),
    Planted(
        "pipelines kept without regard to overrides on the desktop",
        "pkg/webq8/backends/wgpu_device.py",
        "self._once(self._pipelines, (source, constants), begin)",
        "self._once(self._pipelines, (source,), begin)",
        on_gpu("argmax", "argmin"),
    ),
    Planted(
        "pipelines kept without regard to overrides in a page",
        "pkg/webq8/backends/browser/gpu.py",
        "key = (source, constants)",
        "key = (source,)",
        in_page("argmax-last", "argmin-last"),
    ),
    Planted(
        "a fused clamp dropped",
        "pkg/webq8/passes/tables.py",
        "op=found.before.op.bounded(low, high), also=also",
        "also=also",
        ("tests/unit/test_passes.py",),
    ),
    Planted(
        "inputs by name taken in the order in which they are given",
        "pkg/webq8/runtime/program.py",
        "return [given[name] for name in names]",
        "return [*given.values()]",
        ("tests/unit/test_runtime.py",),
    ),
    Planted(
        "the channels of a picture left last",
        "web/model.py",
        "values = np.moveaxis(values, -1, 0)",
        "values = values.reshape(channels, height, width)",
        ("tests/browser/test_model_page.py",),
    ),
    Planted(
        "the places of what a kernel takes over forgotten",
        "pkg/webq8/passes/tables.py",
        ", tables=node.places)",
        ")",
        ("tests/unit/test_inspect.py",),
    ),
    Planted(
        "memory shared one step too early",
        "pkg/webq8/plan/memory.py",
        "low, high = self._leaves + span.first + 1, self._leaves + span.last + 2",
        "low, high = self._leaves + span.first + 1, self._leaves + span.last + 1",
        ("tests/unit/test_plan.py",),
    ),
    Planted(
        "bias dropped",
        "pkg/webq8/kernels/epilogue.py",
        "_interleaved(scales, self.bias, self._room)",
        "_interleaved(scales, None, self._room)",
        on_gpu("q8ta_linear"),
    ),
    Planted(
        "bias of integers added to floats",
        "wgsl/parts/epilogue.wgsl",
        "vec4<f32>(acc + bitcast<vec4<i32>>(bias)) * scale",
        "vec4<f32>(acc) * scale + vec4<f32>(bitcast<vec4<i32>>(bias)) * scale",
        ("tests/native/test_integer_layers_native.py",),
    ),
    Planted(
        "rest of centered weights dropped",
        "pkg/webq8/passes/weights.py",
        "if not n or any(part)]",
        "if not n]",
        ("tests/unit/test_integer_layers.py",),
    ),
    Planted(
        "factor of integer biases divided first",
        "pkg/webq8/backends/reference/linear.py",
        "(np.float32(x.scale) * scales / np.float32(y.scale))",
        "(np.float32(x.scale) / np.float32(y.scale) * scales)",
        ("tests/unit/test_integer_layers.py",),
    ),
    Planted(
        "bias dropped in the reference",
        "pkg/webq8/backends/reference/linear.py",
        "            v = v + bias\n",
        "            pass\n",
        ops("q8ta_linear"),
    ),
    Planted(
        "padding with 0, not with the zero point",
        "wgsl/conv2d.wgsl",
        "select(vec4<i32>(0), vec4<i32>(params.epilogue.x_zero_point), inside)",
        "vec4<i32>(params.epilogue.x_zero_point)",
        on_gpu("q8ta_conv2d"),
    ),
    Planted(
        "padding with 1, not with the zero point, in the reference",
        "pkg/webq8/backends/reference/conv.py",
        "np.pad(x, ((0, 0), (0, 0), (0, 0), (top, bottom), (left, right)))",
        "np.pad(x, ((0, 0), (0, 0), (0, 0), (top, bottom), (left, right)), constant_values=1)",
        ops("q8ta_conv2d"),
    ),
    Planted(
        "halves rounded up",
        "wgsl/parts/int8.wgsl",
        "return bitcast<vec4<i32>>(bounded + 0x1.8p23f) + (zero_point - 0x4b400000);",
        "return vec4<i32>(floor(bounded + 0.5)) + zero_point;",
        on_gpu("q8ta_add"),
    ),
    Planted(
        "halves rounded away from zero in the reference",
        "pkg/webq8/backends/reference/numbers.py",
        "np.rint(scaled)",
        "np.trunc(scaled + np.copysign(np.float32(0.5), scaled))",
        ops("quantize_per_tensor"),
    ),
    # --- one or two of each layer
    Planted(
        "reader: every constant of kernel calls is the first",
        "pkg/webq8/formats/pte/read.py",
        "[table.offsets[index] :]",
        "[table.offsets[0] :]",
        ("tests/unit/test_goldens.py", "-k", "kernel"),
    ),
    Planted(
        "reader: the first data of a state taken for a constant",
        "pkg/webq8/formats/pte/read.py",
        "data = self.file.initial(constant, size, node) if changes else self.file.constant(constant, size, node)",
        "data = self.file.constant(constant, size, node)",
        ("tests/unit/test_pte_state.py",),
    ),
    Planted(
        "arguments: a lower bound that is absent is 0",
        "pkg/webq8/formats/pte/operators/conv_float.py",
        "output_min=Number(absent=-math.inf, default=None)",
        "output_min=Number(absent=0.0, default=None)",
        ops("conv_with_clamp"),
    ),
    Planted(
        "lowering: a last window too few",
        "pkg/webq8/formats/pte/operators/move.py",
        "(shape[dim] - size) // step + 1",
        "max(1, (shape[dim] - size) // step)",
        ops("unfold_copy"),
    ),
    Planted(
        "graph: what integers stand for is changed after they were read",
        "pkg/webq8/ir/builder.py",
        "if tensor.quantization is None and ref not in self._read:",
        "if tensor.quantization is None:",
        ("tests/unit/test_builder.py",),
    ),
    Planted(
        "op: of two clamps in a row, the second bounds nothing",
        "pkg/webq8/ir/ops/core.py",
        "self.replace(bounds=(min(max(bottom, low), high), min(max(top, low), high)))",
        "self.replace(bounds=(low, high))",
        ("tests/unit/test_passes.py",),
    ),
    Planted(
        "op: quantized integers taken for numbers of their own",
        "pkg/webq8/ir/ops/elementwise.py",
        "if tensor.dtype not in dtypes or tensor.quantization is not None:",
        "if tensor.dtype not in dtypes:",
        ("tests/unit/test_builder.py",),
    ),
    Planted(
        "pass: the tensor that alpha is for taken for the other",
        "pkg/webq8/passes/int8.py",
        "if a not in of_int8 and op.alpha == 1.0:",
        "if a not in of_int8:",
        ("tests/unit/test_arithmetic.py",),
    ),
    Planted(
        "pass: bounds quantized by the scale of another tensor",
        "pkg/webq8/passes/int8.py",
        "bounds = self._clamps(ref, base) if self.p.grids[base] == grid else None",
        "bounds = self._clamps(ref, base)",
        ("tests/unit/test_passes.py",),
    ),
    Planted(
        "pass: what is not a number compared as the zero point",
        "pkg/webq8/passes/int8.py",
        "path.possible(op.x) and path.keeps_nan():",
        "path.possible(op.x):",
        ("tests/unit/test_arithmetic.py",),
    ),
    Planted(
        "pass: the second of two tables taken by unsigned bytes",
        "pkg/webq8/passes/tables.py",
        "bytes(second.table[v ^ 128] for v in first.table)",
        "bytes(second.table[v] for v in first.table)",
        ("tests/unit/test_passes.py",),
    ),
    Planted(
        "pass: a table joins the sums before it, though others read these as well",
        "pkg/webq8/passes/tables.py",
        "not isinstance(node.op, Lookup) or editor.uses(node.op.x) != 1:",
        "not isinstance(node.op, Lookup):",
        ("tests/unit/test_passes.py", "-k", "test_each_alone and fuse_through"),
    ),
    Planted(
        "pass: a Dequantize joins what others read as well",
        "pkg/webq8/passes/edges.py",
        "not isinstance(node.op, Dequantize) or editor.uses(node.op.x) != 1:",
        "not isinstance(node.op, Dequantize):",
        ("tests/unit/test_passes.py",),
    ),
    Planted(
        "kernel: results are dequantized without their zero point",
        "wgsl/parts/written.wgsl",
        "vec4<f32>(q - params.written.zero_point)",
        "vec4<f32>(q)",
        ("tests/native/test_edges_native.py", "-k", "test_op and q8ta_relu"),
    ),
    Planted(
        "kernel: operands that are quantized as they are read take the wrong channels",
        "wgsl/parts/steps_of_x.wgsl",
        "lanes * params.read.tensor.inner",
        "lanes",
        ("tests/native/test_edges_native.py", "-k", "test_op and q8ta_conv2d_pw"),
    ),
    Planted(
        "pass: bounds put on a tensor that others read as well",
        "pkg/webq8/passes/tables.py",
        "not isinstance(node.op, Lookup) or editor.uses(node.op.x) != 1:",
        "not isinstance(node.op, Lookup):",
        ("tests/unit/test_passes.py", "-k", "test_each_alone and fuse_bounds"),
    ),
    Planted(
        "numbers: a function rounded twice",
        "pkg/webq8/numerics.py",
        '"silu": lambda x: x * _sigmoid(x),',
        '"silu": lambda x: x * f32(_sigmoid(x)),',
        ("tests/unit/test_numerics.py",),
    ),
    Planted(
        "numbers: ties decided by double",
        "pkg/webq8/numerics.py",
        "return f32(tie) if above == 0 else max(a, b) if above > 0 else min(a, b)",
        "return f32(tie)",
        ("tests/unit/test_numerics.py",),
    ),
    Planted(
        "planner: a folded grid lacks its last workgroups",
        "pkg/webq8/plan/planner.py",
        "return cdiv(workgroups, rows), rows, 1",
        "return workgroups // rows, rows, 1",
        ("tests/unit/test_plan.py",),
    ),
    Planted(
        "planner: a tensor's own layout taken for the one that an op wants",
        "pkg/webq8/plan/planner.py",
        "if have.same_bytes(want):",
        "if True:",
        ("tests/unit/test_plan.py",),
    ),
    Planted(
        "memory: tensors of one dispatch in one buffer",
        "pkg/webq8/plan/memory.py",
        "if buffer in excluded:",
        "if buffer in excluded and False:",
        ("tests/unit/test_memory.py",),
    ),
    Planted(
        "target: subgroup matrices on devices whose subgroups have other sizes as well",
        "pkg/webq8/target.py",
        "adapter.subgroup_sizes == {32}",
        "32 in adapter.subgroup_sizes",
        ("tests/unit/test_select.py",),
    ),
    Planted(
        "kernel choice: depthwise sums of float32 where they are too long to be exact",
        "pkg/webq8/kernels/select.py",
        "kernel[0] * kernel[1] <= EXACT_TERMS and",
        "",
        on_gpu("q8ta_conv2d_dw"),
    ),
    Planted(
        "kernel choice: matrices read by vec4 where pixels have fewer words",
        "pkg/webq8/kernels/select.py",
        "if op.groups > 1 or not (whole or tiles):",
        "if op.groups > 1:",
        on_gpu("q8ta_conv2d"),
    ),
    Planted(
        "kernel: sums of float32 where they are too long to be exact",
        "pkg/webq8/kernels/conv.py",
        '"long_sums": c.in_channels > _EXACT_PRODUCTS,',
        '"long_sums": False,',
        on_gpu("q8ta_conv2d"),
    ),
    Planted(
        "WGSL: the dilation of columns for rows",
        "wgsl/conv2d_depthwise.wgsl",
        "top + tap_row(kh)",
        "top + tap_column(kh)",
        on_gpu("q8ta_conv2d_dw"),
    ),
    Planted(
        "backend: all results are the first",
        "pkg/webq8/backends/gpu_program.py",
        "            at += size\n",
        "",
        ("tests/native/test_files_native.py", "-k", "test_ways_of_the_container"),
    ),
    Planted(
        "backend: a shader with fewer writable bindings for one with more",
        "pkg/webq8/backends/gpu_program.py",
        "return step.kernel, step.constants, step.writable",
        "return step.kernel, step.constants, ()",
        ("tests/native/test_files_native.py", "-k", "test_network and cnn"),
    ),
    Planted(
        "backend: the reference takes reciprocals in float32",
        "pkg/webq8/backends/reference/numbers.py",
        "return np.float32(1.0 / np.float64(scale))",
        "return np.float32(1) / np.float32(scale)",
        ops("q8ta_add"),
    ),
    Planted(
        "backend: the reference keeps a state as it was",
        "pkg/webq8/backends/reference/core.py",
        "states[:] = [arrays[state.next] for state in graph.states]",
        "states[:] = [arrays[state.value] for state in graph.states]",
        ("tests/unit/test_pte_state.py",),
    ),
    Planted(
        "backend: a state is left where the run has found it",
        "pkg/webq8/backends/wgpu_device.py",
        "buffer, offset, size = slots.left",
        "buffer, offset, size = slots.read",
        ("tests/native/test_device_native.py", "-k", "test_state"),
    ),
    Planted(
        "backend: loading that fails keeps its buffers",
        "pkg/webq8/backends/gpu_program.py",
        "        except BaseException:\n            loaded.close()\n            raise\n",
        "        except BaseException as e:\n"
        "            e.kept, loaded.close = loaded, lambda: None\n            raise\n",
        ("tests/unit/test_null.py",),
    ),
    Planted(
        "backend: a tensor that stays is the run's before",
        "pkg/webq8/backends/wgpu_device.py",
        "encoder.copy_buffer_to_buffer(source, 0, self.buffers[buffer], offset, size)",
        "pass",
        ("tests/native/test_device_native.py", "-k", "stay"),
    ),
    Planted(
        "backend: a tensor that is forgotten keeps its buffer",
        "pkg/webq8/backends/gpu_program.py",
        "    def __del__(self) -> None:\n        self.close()\n\n    @property",
        "    @property",
        ("tests/unit/test_resident.py",),
    ),
    Planted(
        "inputs: numbers that a dtype does not hold are taken",
        "pkg/webq8/runtime/inputs.py",
        "    if back == tuple(values):\n        return packed, None\n    rounds",
        "    return packed, None\n    rounds",
        ("tests/unit/test_inputs.py",),
    ),
    Planted(
        "TFLite: sums in fixed point without their zero point",
        "wgsl/parts/arithmetic.wgsl",
        "(sum >> vec4<u32>(params.arithmetic.shift)) + zero_point",
        "sum >> vec4<u32>(params.arithmetic.shift)",
        ("tests/native/test_format_goldens_native.py", "-k", "tflite-add or tflite-sub"),
    ),
    Planted(
        "TFLite: means of pools cut off, not rounded",
        "pkg/webq8/formats/xnnpack.py",
        "    half = count // 2\n",
        "    half = 0\n",
        ("tests/unit/test_format_goldens.py", "-k", "tflite-ave-pool"),
    ),
    Planted(
        "TFLite: the second rounding takes negative halves up",
        "pkg/webq8/fixed_point.py",
        "(mask >> 1) + (v < 0)",
        "mask >> 1",
        ("tests/unit/test_format_goldens.py", "-k", "tflite-all-prelu or tflite-quantize-int16"),
    ),
    Planted(
        "TFLite: what softmax multiplies by is off by a thousandth",
        "wgsl/softmax_int8.wgsl",
        "let factor = bitcast<f32>(quotient(0x3f800000u, scaled));",
        "let factor = 1.0 / bitcast<f32>(scaled) * 1.001;",
        ("tests/native/test_format_goldens_native.py", "-k", "tflite-softmax"),
    ),
    Planted(
        "TFLite: an LSTM reads what its cells hide while others still write it",
        "wgsl/lstm_int8.wgsl",
        "  next[cell] = clamp(",
        "  hidden[cell / 4u] = 0u;\n  next[cell] = clamp(",
        ("tests/native/test_format_goldens_native.py", "-k", "tflite-lstm"),
    ),
)
