"""`fullgraph ticket`: what was understood, and what was fixed."""
