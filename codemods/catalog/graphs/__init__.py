"""What splits a graph, or asks torch to compile by names that have moved."""
