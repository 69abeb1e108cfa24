"""The pictures show what fullgraph really says, load nothing, and are small."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.pages import ROOT, links

PICTURES = ROOT / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"


def shown_in(picture: Path) -> str:
    texts = ["".join(text.itertext()) for text in ElementTree.parse(picture).iter(f"{SVG}text")]
    return " ".join("".join(texts).split())


def test_the_picture_of_the_review_is_current(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    subprocess.run([sys.executable, ROOT / "scripts" / "pictures.py", tmp_path, "review"], check=True)
    made, stored = (shown_in(folder / "review.svg") for folder in (tmp_path, PICTURES))
    assert made == stored, "`make pictures` makes it anew"
    assert "apply? [y,n,a,d,u,e,p,i,o,x,s,q,?] y" in stored
    assert "`fullgraph undo 1` takes it back." in stored


def test_the_review_loads_nothing_from_elsewhere() -> None:
    text = (PICTURES / "review.svg").read_text()
    assert "url(http" not in text
    assert "@font-face" not in text


def test_the_report_is_a_picture_that_a_page_can_hold() -> None:
    data = (PICTURES / "report.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width == 1100
    assert 900 < height < 2000
    assert len(data) < 300_000


def test_both_stand_on_the_first_screen_with_the_two_commands() -> None:
    first = (ROOT / "README.md").read_text().partition("\n## ")[0]
    for piece in ("docs/pictures/review.svg", "docs/pictures/report.png", "\nmake demo ", "\nmake test "):
        assert piece in first
    used = {(ROOT / link).resolve() for link in links(ROOT / "README.md")}
    assert set(PICTURES.iterdir()) <= used
