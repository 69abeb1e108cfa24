"""Objects that move themselves to the device of their input."""
