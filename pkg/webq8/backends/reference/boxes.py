"""What detectors end with."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.boxes import NonMaxSuppression

__all__: list[str] = []


@reference(NonMaxSuppression)
def non_max_suppression(op: NonMaxSuppression, arrays: Arrays) -> tuple[Array, Array]:
    boxes, scores = arrays[op.boxes], arrays[op.scores]
    rest = np.where(scores > np.float32(op.least), scores, np.float32(-np.inf))
    rows = np.full((*scores.shape[:2], op.most, 3), -1, np.int64)
    for b, c in np.ndindex(scores.shape[:2]):
        left = rest[b, c]  # a view
        for n in range(op.most):
            best = int(left.argmax())
            if left[best] == -np.inf:
                break
            rows[b, c, n] = b, c, best
            left[_overlaps(boxes[b], boxes[b, best], op.centred) > np.float32(op.overlap)] = -np.inf
            left[best] = -np.inf
    return rows.reshape(-1, 3), rest


def _corners(boxes: Array, centred: bool) -> tuple[Array, Array]:
    if centred:
        half = boxes[..., 2:] / np.float32(2)
        return boxes[..., :2] - half, boxes[..., :2] + half
    return np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])


def _overlaps(boxes: Array, box: Array, centred: bool) -> Array:
    """The common area of each box with one, over that of both; 0 where one of them has none."""
    (low, high), (first, last) = _corners(boxes, centred), _corners(box, centred)
    common = np.maximum(np.minimum(high, last) - np.maximum(low, first), np.float32(0)).prod(-1)
    areas, area = (high - low).prod(-1), (last - first).prod(-1)
    whole = areas + area - common
    real = (common > 0) & (areas > 0) & (area > 0) & (whole > 0)
    return np.where(real, common / np.where(real, whole, np.float32(1)), np.float32(0))
