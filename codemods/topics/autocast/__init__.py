"""Autocast: where it is made and entered, and where its condition can be decided once."""
