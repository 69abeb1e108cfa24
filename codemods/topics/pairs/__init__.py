"""Dicts with pairs of ints as keys: where they are used, what their keys are, and how to write them flat."""
