"""Numbers and shapes that compiled code would have to read from tensors, and the forms that stay in the graph."""
