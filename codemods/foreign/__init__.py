"""Codemods written for other tools, run as ours."""
