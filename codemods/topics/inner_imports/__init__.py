"""Imports inside functions: which of them run often, and which can stand at the top of the file."""
