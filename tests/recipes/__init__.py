"""The recipes for pipelines."""
