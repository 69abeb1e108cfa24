"""`fullgraph audit`: hazards for people and for programs."""
