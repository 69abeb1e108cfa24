"""Tensors that a class makes for itself: where it makes them, what it does with them, and where they end up."""
