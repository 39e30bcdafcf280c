"""Programs that can be called: loading, inputs and results, profiles."""
