"""Dicts with keys that guards have to check."""
