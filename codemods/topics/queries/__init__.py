"""What is asked twice: queries, the passes over collections that ask them, and what runs in between."""
