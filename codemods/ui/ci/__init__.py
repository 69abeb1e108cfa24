"""`fullgraph ci`: what pipelines need beyond check and fix."""
