"""From text to text: find and rewrite. Never imports torch; docs/architecture.md says what is in which room."""
