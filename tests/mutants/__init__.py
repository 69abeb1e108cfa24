"""Faults put in on purpose, one at a time: the tests next to the code must notice each of them."""
