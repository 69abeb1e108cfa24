"""Text from anywhere, made harmless to look at: what a terminal or a browser would act on is spelt out."""

from __future__ import annotations

import re

CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, marks that turn the direction of text or take no room, and halves of characters."""


def plain(text: str, keep: str = "") -> str:
    """The text with every control character as Python would write it, except those to keep."""
    return CONTROL.sub(lambda found: found[0] if found[0] in keep else spelt(found[0]), text)


def spelt(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
