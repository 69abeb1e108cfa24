"""Which keys does a dict hold, in which order? Answered only where every step can be seen."""
