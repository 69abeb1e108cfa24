"""A script and a test file of the user's own that try compiled code out; written from the text of the project."""
