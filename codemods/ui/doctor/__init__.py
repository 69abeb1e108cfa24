"""Whether everything is there that checking and proving need."""
