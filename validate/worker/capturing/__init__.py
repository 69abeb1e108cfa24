"""Inside the user's program: the arguments of real calls, stored and read back."""
