"""Graph to plan: layouts, lifetimes, buffers, grids and limits. Pure Python, no device."""
