"""Work that is done again and again with the same result."""
