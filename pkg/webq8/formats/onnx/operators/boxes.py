"""What detectors end with."""

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, Value, operator
from webq8.ir.ops.boxes import NonMaxSuppression
from webq8.ir.types import BadArg


@operator("NonMaxSuppression")
def non_max_suppression(c: Call) -> Result:
    """Rows of −1 stand where there are fewer boxes than there may be; programs leave them out of their results."""
    options = [c.constant(n, name)[0] if c.has(n) else 0 for n, name in ((2, "the number"), (3, "iou"), (4, "score"))]
    most, overlap, least = options
    if not c.has(4):
        least = float("-inf")
    boxes, scores = c.x(), c.x(1)
    if c.type(0).dtype != "float32" or c.type(1).dtype != "float32":
        raise BadArg("boxes and scores that are no float32 are not supported", Unsupported)
    count = max(0, min(int(most), c.shape()[1]))
    rows = c.emit_all(NonMaxSuppression(boxes, scores, count, overlap, least, bool(c.integer("center_point_box", 0))))
    return Value(rows[0], partial=True)
