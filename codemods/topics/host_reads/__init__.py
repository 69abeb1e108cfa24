"""Numbers that a program reads from a device one at a time, and what must be known to read them at once."""
