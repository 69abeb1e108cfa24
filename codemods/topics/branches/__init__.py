"""What `if` on a tensor's value does, and when both of its sides may be computed instead."""
