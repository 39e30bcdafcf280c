"""WebGPU of the page that Python runs in."""
