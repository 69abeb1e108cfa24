"""Compiled code behind flags: where it is asked for, what the flags are called, and the file that holds the gate."""
