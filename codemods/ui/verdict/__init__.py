"""A verdict, as text, as JSON and as a page."""
