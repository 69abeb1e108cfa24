"""The forms that a pipeline's report takes: one file for each, with `render`, from the report to bytes."""
