"""What functions and classes take, and who gives it to them; and how to give them one thing more."""
