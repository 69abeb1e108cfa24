"""Inside the user's program while it runs as ever: what is compiled, called and read back is counted."""
