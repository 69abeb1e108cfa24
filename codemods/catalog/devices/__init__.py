"""Tensors that are on another device than the code that uses them."""
