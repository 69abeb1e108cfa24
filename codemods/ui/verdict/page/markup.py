"""HTML that is safe by construction: whatever is not markup made here is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from fullgraph.codemods.ui.plain import plain


class Html(str):
    """Markup. Any other string, also one that was made of markup by `+` or formatting, is text."""

    __slots__ = ()


Child = str | Iterable["Child"] | None

VOID = {"col", "link", "meta"}


def escape(text: str) -> str:
    """Text for a page or an attribute; control characters are spelt out."""
    return html.escape(plain(text, keep="\n\t"))


def markup(*children: Child) -> Html:
    """Children one after the other: markup as it is, text escaped, nothing for None."""
    parts = []
    for child in children:
        if isinstance(child, Html):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(escape(child))
        elif child is not None:
            parts.append(str(markup(*child)))
    return Html("".join(parts))


def element(name: str, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """`element("p", "a < b", class_="x")`. An attribute that is None or False is left out; True has no value."""
    head = "".join(written(key, value) for key, value in attributes.items() if value is not None and value is not False)
    return Html(f"<{name}{head}>" if name in VOID else f"<{name}{head}>{markup(*children)}</{name}>")


def written(key: str, value: str | int | float) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
