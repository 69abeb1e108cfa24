"""Observed breaks: where each may be rewritten, which findings are about it, and how it ends."""
