"""Where a project asks torch to compile something, and what is put around that: its name, its import, its layout."""
