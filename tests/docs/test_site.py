"""`make site`: every page is in it, every link in it leads to a file of it, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from site_build import navigation, pages, place_of, site_text

from tests.docs.pages import ROOT

LOADED = re.compile(r'<(?:script|link|img|source)\b[^>]*?\b(?:src|href)="?([^" >]+)')
LED = re.compile(r'<a\b[^>]*?\bhref="?([^" >]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("build")
    subprocess.run([sys.executable, ROOT / "scripts" / "site_build.py", folder], check=True, capture_output=True)
    return folder / "site"


def html_of(page: str) -> str:
    return re.sub(r"(^|/)README\.md$", r"\1index.md", page).removesuffix(".md") + ".html"


def test_every_page_is_built_and_stands_in_the_navigation(site: Path) -> None:
    named = re.findall(r"[\w/-]+\.md", str(navigation()))
    assert sorted(named) == sorted(map(place_of, pages()))
    assert [name for name in named if not (site / html_of(name)).is_file()] == []


def test_the_tutorials_come_first(site: Path) -> None:
    assert list(navigation()[1].values()) == [["tutorial-training.md", "tutorial.md", "own-codemod.md"]]


def test_every_link_of_the_site_leads_to_a_file_of_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue
        text = page.read_text()
        for link in {*LED.findall(text), *LOADED.findall(text)}:
            path = unquote(link.partition("#")[0].partition("?")[0])
            if "://" not in link and path:
                assert (page.parent / path).exists(), f"{page.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [link for link in LOADED.findall(page.read_text()) if "//" in link] == [], page


PAGE = ROOT / "docs" / "codemods" / "README.md"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](../limits.md#finding)", "[a](../limits.md#finding)"),
        ("[`a`](../../CHANGELOG.md) and `b`", "[`a`](../CHANGELOG.md) and `b`"),
        ("[a](../commands)", "[a](../commands/README.md)"),
        ("[a](../../fixtures/x/y)", "a"),
        ("[a](https://pytorch.org)", "[a](https://pytorch.org)"),
        ("`[a](../../fixtures)`", "`[a](../../fixtures)`"),
        (r"| `a\|b` | c \| d |", r"| `a|b` | c \| d |"),
        ("```python a/b.py\nx[1](2)\n```", "`a/b.py`\n\n```python\nx[1](2)\n```"),
    ],
)
def test_links_lead_to_pages_of_the_site_or_are_none(text: str, shown: str) -> None:
    assert site_text(text, PAGE) == shown
