"""Files that tell a coding agent about fullgraph, in the places where the hosts of agents look."""
