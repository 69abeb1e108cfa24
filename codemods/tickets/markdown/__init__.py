"""Tickets and plans in Markdown: blocks by a real parser, sections, fields, and what they say."""
