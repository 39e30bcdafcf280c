"""From graphs to plans: where tensors lie, and which steps a device runs. Pure Python, no device."""
