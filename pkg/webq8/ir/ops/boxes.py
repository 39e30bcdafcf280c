"""What detectors end with."""

from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, Ref, Tensor

__all__ = ["NonMaxSuppression"]


class NonMaxSuppression(Op):
    """Of the boxes of each map and class the best first, and none that an earlier one overlaps by more than `overlap`:
    the common area over that of both together. Scores must be above `least`; of equal ones the first box comes first.

    boxes [B, N, 4] are two corners (y, x, y, x), or centre, width and height (x, y, w, h) where they are `centred`;
    scores [B, C, N]; all float32. Results: rows of int64 (b, c, n), at most `most` for each b and c, and rows of −1
    where there are fewer; and the scores, with −∞ for boxes that are no candidates any more.
    """

    boxes: Ref
    scores: Ref
    most: int
    overlap: float
    least: float
    centred: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        boxes, scores = types[self.boxes].shape, types[self.scores].shape
        if len(scores) != 3 or boxes != (scores[0], scores[2], 4):
            raise BadArg(f"boxes {list(boxes)} and scores {list(scores)}: [B, N, 4] and [B, C, N] expected")
        rows = scores[0] * scores[1] * self.most
        return Tensor((rows, 3), "int64"), Tensor(scores, "float32")
