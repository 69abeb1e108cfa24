"""A page as a tree would have it: tags, attributes and text, and what must hold for every page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "col"}
BLOCKS = {"p", "div", "ul", "ol", "dl", "table", "pre", "section", "details", "figure", "h2", "h3", "h4"}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LOADING = {"script", "img", "iframe", "object", "embed", "base", "form"}


class Page(HTMLParser):
    """Every tag is closed by its own, and no paragraph holds a block: a browser would end it there."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.open_tags: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open_tags

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in BLOCKS or "p" not in self.open_tags, f"<{tag}> in a paragraph"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open_tags:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())

    def count(self, tag: str, name: str = "") -> int:
        classes = [(attributes.get("class") or "").split() for kind, attributes in self.tags if kind == tag]
        return sum(not name or name in one for one in classes)

    def check(self) -> None:
        """Every id is its own and every link and label leads to one; nothing is loaded, run or hidden in the text."""
        ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        targets = {(attributes.get("href") or "")[1:] for tag, attributes in self.tags if tag == "a"}
        labels = {attributes["aria-labelledby"] for _, attributes in self.tags if "aria-labelledby" in attributes}
        assert targets | labels <= set(ids)
        assert not LOADING & {tag for tag, _ in self.tags}
        for _, attributes in self.tags:
            for key, value in attributes.items():
                assert not key.startswith("on")
                if key in ("href", "src", "srcset", "action", "data", "poster"):
                    assert (value or "").startswith(("#", "data:,"))
        style = self.html[self.html.index("<style>") : self.html.index("</style>")]
        assert not re.search(r"url\(|@import|https?:|//", style)
        assert "default-src 'none'" in self.html
        assert not CONTROL.search(self.html)
