"""What a verdict changes in a ticket's own file."""
