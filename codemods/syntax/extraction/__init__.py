"""Statements that become a function of their own."""
