"""What runs a plan or a graph: the browser's WebGPU, and numpy."""
