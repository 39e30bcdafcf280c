def requantizing_table(x, ops, y, bounds=(-128, 127)):
    from array import array
    import math
    from webq8.ir.types import f32

    x_scale, x_zero_point, y_scale, y_zero_point = x.scale, x.zero_point, y.scale, y.zero_point
    bottom, top = (ops[0].low, ops[0].high) if ops else (-math.inf, math.inf)
    low, high = bounds
    scale, inv_y_scale = f32(x_scale), f32(1.0 / y_scale)
    values = array("f", [(x - x_zero_point) * scale for x in range(-128, 128)])
    scaled = array("f", [min(max(v, bottom), top) * inv_y_scale for v in values])
    results = [v if math.isinf(v) else round(v) + y_zero_point for v in scaled]
    return bytes([int(min(max(v, low), high)) & 255 for v in results])
