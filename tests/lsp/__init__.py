"""The language server, driven by a real client over pipes."""
