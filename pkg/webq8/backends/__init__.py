"""Backends, which run plans (the browser's WebGPU, the desktop's) or graphs (the numpy reference)."""
