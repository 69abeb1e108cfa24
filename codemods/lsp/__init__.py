"""The language server: what `check`, `fix`, `explain`, `prove` and `undo` do, inside an editor."""
