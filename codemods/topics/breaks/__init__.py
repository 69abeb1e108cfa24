"""Graph breaks: which code is traced, and what breaks in it."""
