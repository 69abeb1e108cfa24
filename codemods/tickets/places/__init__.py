"""From a place as a ticket writes it to where that is in the project now."""
