"""Messages of compiled code: logging, warnings and prints, and how they become part of the graph."""
