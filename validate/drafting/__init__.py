"""A first scenario for a function, from its source alone: nothing is imported and nothing runs."""
