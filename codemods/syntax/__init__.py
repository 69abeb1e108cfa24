"""Questions about code that several codemods ask, and edits that several make."""
