"""Every link leads somewhere, and every page can be reached."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, links

EVERY = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def tracked() -> set[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {ROOT / name for name in listed.stdout.split("\0")[:-1]}


@EVERY
def test_every_link_leads_to_a_file_of_the_project(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page}: {link}"
        assert target.is_relative_to(ROOT), f"{page}: {link}"
        assert not anchor or anchor in anchors(target), f"{page}: {link}"


@EVERY
def test_nothing_is_loaded_from_elsewhere(page: Path) -> None:
    """Addresses may be named; pictures and pages come with the clone."""
    hosts = [link for link in links(page) if "://" in link]
    assert all(link.startswith("https://") for link in hosts), hosts


def test_every_page_is_reached_from_the_readme() -> None:
    seen, open_pages = set(), [ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        seen.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link}
        readable = {target / "README.md" if target.is_dir() else target for target in targets}
        open_pages += [one for one in readable if one.suffix == ".md" and one.exists() and one not in seen]
    assert set(PAGES) - seen == set()


def test_linked_files_are_in_git() -> None:
    known = tracked()
    if not known:
        pytest.skip("not a clone")
    for page in PAGES:
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if "://" not in link and target.is_file():
                assert target in known, f"{page}: {link}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](b.md) and ![c](d.png)", ["b.md", "d.png"]),
        ("`[a](b.md)` is code", []),
        ("```\n[a](b.md)\n```\n", []),
        ('<img src="d.svg" alt="e">', ["d.svg"]),
    ],
)
def test_links_are_seen_where_a_reader_sees_them(tmp_path: Path, text: str, found: list[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(links(page)) == found


def test_headings_get_the_names_that_links_use(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What it's for\n\n## `fullgraph ci`: exit codes\n\n```\n# no heading\n```\n")
    assert anchors(page) == {"what-its-for", "fullgraph-ci-exit-codes"}
