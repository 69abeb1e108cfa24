"""Checks on the values of tensors: what they ask, what they raise, and who catches it."""
