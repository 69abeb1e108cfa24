"""What the text says about values: which are tensors, of which kind, shape and device."""
