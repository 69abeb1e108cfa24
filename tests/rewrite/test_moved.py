"""Lines that were seen to break, followed through edits."""

from __future__ import annotations

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Edit, Site, Span
from fullgraph.codemods.rewrite.moved import move_sites, with_moved_sites

TEXT = "one\ntwo\nthree\nfour"


def moved_lines(line: int, old: str, new: str) -> list[int]:
    """Where a line stands after one replacement."""
    start = TEXT.index(old)
    edit = Edit("a.py", Span(start, start + len(old)), new)
    sites = move_sites([Site("a.py", line)], {"a.py": (TEXT, [edit])}, {"a.py": TEXT.replace(old, new)})
    return [site.line for site in sites or ()]


@pytest.mark.parametrize(
    ("line", "old", "new", "lines"),
    [
        (3, "one", "one\nand", [4]),
        (3, "two\n", "", [2]),
        (1, "four", "4\n5", [1]),
        (2, "two", "if\n  two\nelse", [2, 3, 4]),
        (4, "four", "4", [4]),
        (9, "one", "1", []),
    ],
)
def test_a_line_goes_where_its_text_goes(line: int, old: str, new: str, lines: list[int]) -> None:
    assert moved_lines(line, old, new) == lines


def test_other_files_and_what_was_not_observed_stay() -> None:
    codemod = Codemod()
    assert with_moved_sites([codemod], {}, {}) == [codemod]
    codemod.sites = (Site("b.py", 3, "GB0001"),)
    (other,) = with_moved_sites([codemod], {"a.py": (TEXT, [])}, {"a.py": TEXT})
    assert (other.sites, other is codemod) == (codemod.sites, False)


def test_what_was_seen_on_a_line_goes_with_it() -> None:
    site = Site("a.py", 3, "GB0170", ("x.shape",))
    edit = Edit("a.py", Span(0, 0), "zero\n")
    assert move_sites([site], {"a.py": (TEXT, [edit])}, {"a.py": f"zero\n{TEXT}"}) == [
        Site("a.py", 4, "GB0170", ("x.shape",))
    ]
