"""What runs under the user's python: the standard library and torch, nothing else; Python 3.9 and torch 2.6 suffice."""
