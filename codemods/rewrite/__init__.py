"""From findings to bytes on disk and back: find, plan, write, undo."""
