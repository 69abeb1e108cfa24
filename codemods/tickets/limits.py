"""How much of a ticket is read. Whatever is beyond these limits is refused by name, or not looked at."""

from __future__ import annotations

MARKDOWN_BYTES = 500_000
MARKDOWN_LINES = 10_000
"""Reading takes up to a tenth of a millisecond a line."""

RECORD_BYTES = 12_000_000
BODIES = 1_000_000
"""Characters of all issues' bodies in one file of JSON together."""

CODE = 500_000
"""Characters of all code in one file of JSON together."""

FINDINGS = 5_000
ISSUES = 500
"""In one file: a report of more findings, or a plan of more issues, is refused."""

INLINE = 10_000
"""Characters of one paragraph, item or cell in which names, files and verdicts are looked for."""

SNIPPET = 20_000
SNIPPET_LINE = 1_000
"""Characters of one code block that is parsed, and of each of its lines."""

TEXT = 20_000
"""Characters of prose that one part of a ticket keeps."""

MENTIONS = 50
RANGES = 50
LAST_LINE = 9_999_999
FILES = 20_000
"""Files that are looked at below one folder."""
