"""Makes tests/data/wakewords.npz: what the streaming models of pymicro-wakeword make of frames, by ai-edge-litert.

    pip install -r tests/export/requirements_tflite.txt
    python tests/export/wakewords.py "$(python tests/wakewords.py)"

Hardly any frames but the spoken word move such a model's answer from zero. So frames are searched for: patches of
energy are added to quiet, and kept where the sum before the last function comes nearer to a wave. NAME.in0 has the
frames of consecutive runs, NAME.out0 the answers, by XNNPACK.
"""

import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from converter import DATA, interpreted

RUNS, FEATURES, TRIALS = 40, 40, 1500


class Search:
    """Runs the model as it is, so that the value before its last function can be read."""

    def __init__(self, file: bytes) -> None:
        plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.file, self.options = file, {"experimental_op_resolver_type": plain, "num_threads": 1}
        probe = Interpreter(model_content=file, **self.options)
        self.before = next(op["inputs"][0] for op in probe._get_ops_details() if op["op_name"] == "LOGISTIC")
        details = {d["index"]: d["quantization"] for d in probe.get_tensor_details()}
        self.scale, self.zero_point = details[self.before]

    def score(self, frames: np.ndarray) -> float:
        interpreter = Interpreter(model_content=self.file, experimental_preserve_all_tensors=True, **self.options)
        interpreter.allocate_tensors()
        index, total = interpreter.get_input_details()[0]["index"], 0.0
        for i, frame in enumerate(frames):
            interpreter.set_tensor(index, frame)
            interpreter.invoke()
            value = (float(interpreter.get_tensor(self.before).ravel()[0]) - self.zero_point) * self.scale
            total -= abs(value - 4 * np.sin(i / 3))
        return total


def patch(rng: np.random.Generator) -> np.ndarray:
    """Energy around a moment and a pitch."""
    moment, pitch = rng.uniform(0, 3 * RUNS), rng.uniform(0, FEATURES)
    long, wide = rng.uniform(1, 20), rng.uniform(1, 8)
    t, f = np.arange(3 * RUNS)[:, None], np.arange(FEATURES)
    return rng.normal() * 120 * np.exp(-(((t - moment) / long) ** 2) - ((f - pitch) / wide) ** 2)


def frames_for(file: bytes) -> np.ndarray:
    def as_taken(energy: np.ndarray) -> np.ndarray:
        return np.clip(np.round(energy), -128, 127).astype(np.int8).reshape(RUNS, 1, 3, FEATURES)

    rng, search = np.random.default_rng(0), Search(file)
    best = rng.normal(-100, 10, (3 * RUNS, FEATURES))
    reached = search.score(as_taken(best))
    for _ in range(TRIALS):
        tried = best + patch(rng)
        if (score := search.score(as_taken(tried))) > reached:
            best, reached = tried, score
    return as_taken(best)


def main() -> None:
    arrays = {}
    for path in sorted(Path(sys.argv[1]).glob("*.tflite")):
        file = path.read_bytes()
        frames = frames_for(file)
        answers = np.concatenate([y[0] for y in interpreted(file, [[x] for x in frames])])
        arrays |= {f"{path.stem}.in0": frames[:, 0], f"{path.stem}.out0": answers}
        print(path.stem, answers.ravel().tolist(), flush=True)
    np.savez_compressed(DATA / "wakewords.npz", **arrays)


if __name__ == "__main__":
    main()
