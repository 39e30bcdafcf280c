"""ExecuTorch's `.pte` files."""
