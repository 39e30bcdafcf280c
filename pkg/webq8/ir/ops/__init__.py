"""What ops are: which values they read, their options, shape rules and limits. No kernel, no file format."""
