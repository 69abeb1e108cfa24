"""The pages that fullgraph writes: templates, one style, and how they become one file."""
