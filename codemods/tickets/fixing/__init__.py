"""What is done about a ticket: the findings to apply, what became of them, and what its file says then."""
