"""`fullgraph observe`: what a program did, as text, as a page, and joined with findings."""
