"""What the WGSL files declare, and the dispatches that ops become for a target."""
