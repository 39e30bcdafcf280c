"""Cases with arguments that are unlike in every axis, and what torch gives for them: see export/torch_goldens.py."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from cases.common import Case

_FILE = Path(__file__).parents[1] / "data" / "torch_goldens.npz"


def _read() -> list[tuple[Case, list[np.ndarray]]]:
    with np.load(_FILE) as file:
        arrays = dict(file)

    def value(stored: Any) -> Any:
        if isinstance(stored, dict):
            return arrays[stored["array"]]
        return [value(v) for v in stored] if isinstance(stored, list) else stored

    def case(row: dict[str, Any]) -> Case:
        args = tuple(value(row["args"]))
        return Case(row["op"], f"torch-{row['name']}", lambda _: args, row["rtol"], row["atol"])

    return [(case(row), value(row["results"])) for row in json.loads(arrays.pop("rows").item())]


TORCH_GOLDENS = _read()
GOLDEN_CASES = [case for case, _ in TORCH_GOLDENS]
