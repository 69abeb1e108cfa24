"""The page: read as text always, and looked at in a browser where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fullgraph.codemods.ui.pages.render import STYLE
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.verdict.as_html import verdict_html
from fullgraph.codemods.ui.verdict.as_json import verdict_as_json
from fullgraph.codemods.ui.verdict.diff import aligned, changed_words, read_diff, side_by_side
from fullgraph.codemods.ui.verdict.page.frames import frames_of
from fullgraph.codemods.ui.verdict.page.plots import nice_ticks, ratio_ticks
from fullgraph.codemods.ui.verdict.rows import rows
from fullgraph.validate.model import Verdict
from tests.ui.browser import OVERFLOWING, Browser, find_chromium
from tests.ui.page import Page
from tests.ui.sample_verdicts import BRANCH, ITEM, PRINT, SAMPLES, diff_of

EVERY = pytest.mark.parametrize("name", [*SAMPLES, "all"])


def verdicts_of(name: str) -> list[Verdict]:
    return [make() for make in SAMPLES.values()] if name == "all" else [SAMPLES[name]()]


def page_of(name: str) -> Page:
    return Page(verdict_html(verdicts_of(name)))


def squeezed(text: str) -> str:
    return " ".join(plain(text, keep="\n\t").split())


@EVERY
def test_the_page_is_whole_and_asks_for_nothing_from_elsewhere(name: str) -> None:
    page_of(name).check()


@EVERY
def test_ruling_sentence_numbers_and_notices_are_there(name: str) -> None:
    page = page_of(name)
    for verdict in verdicts_of(name):
        assert verdict.ruling.value.capitalize() in page.text
        for reason in verdict.reasons:
            assert squeezed(reason.text.partition("\n")[0]) in page.text
        for row in rows(verdict):
            if row.is_measured:
                assert f"{row.name} {row.before} {row.after} {row.follows}".strip() in page.text
        for notice in verdict.notices:
            assert squeezed(notice) in page.text


NAMES = {
    "graphs": "graphs",
    "breaks": "graph breaks",
    "guards": "guards",
    "operators": "operators",
    "syncs": "host reads",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_counts_are_those_of_the_json(name: str) -> None:
    text = page_of(name).text
    told = verdict_as_json(SAMPLES[name]())
    for key, label in NAMES.items():
        before, after = (told[side]["counts"][key] for side in ("before", "after"))
        if before is not None and after is not None:
            assert f" {label} {before:,} {after:,} " in text


@EVERY
def test_every_break_recompile_host_read_and_difference_is_there(name: str) -> None:
    text = page_of(name).text
    for verdict in verdicts_of(name):
        for side in (verdict.before, verdict.after):
            for one in side.breaks or ():
                assert f"{one.file}:{one.line}" in text
                assert squeezed(one.reason) in text
                assert squeezed(one.hint) in text
            for graph in side.recompiles or ():
                assert squeezed(graph.recompile) in text
            for sync in (*(side.syncs or ()), *(side.moves or ())):
                assert re.search(rf"{sync.file}:(\d+ > )?{sync.line}\b", text)
            assert squeezed(side.outcome.text) in text
        for difference in verdict.differences:
            for piece in (difference.path, difference.what, difference.first, difference.second, difference.error):
                assert squeezed(piece) in text


def test_text_from_anywhere_stays_text() -> None:
    text = verdict_html([SAMPLES["hostile"]()])
    assert "<script" not in text
    assert "&lt;script&gt;alert(" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert '<span class="control">\\u202e</span>' in text
    assert '<span class="control">\\x1b</span>' in text
    text.encode("utf-8")


def test_a_title_is_escaped() -> None:
    text = verdict_html([SAMPLES["proven"]()], 'a "quoted" </title><b>&')
    assert "<title>a &#34;quoted&#34; &lt;/title&gt;&lt;b&gt;&amp;</title>" in text


def test_a_dollar_sign_in_a_verdict_is_only_a_dollar_sign() -> None:
    verdict = replace(SAMPLES["proven"](), notices=("$title costs $5 ${verdicts}",))
    assert "$title costs $5 ${verdicts}" in Page(verdict_html([verdict])).text


def test_a_verdict_without_compared_values_claims_no_equivalence() -> None:
    assert "Before and after are equivalent" not in page_of("fake_cuda").text
    assert "What before and after return was not compared" in page_of("fake_cuda").text
    assert "Before and after are equivalent" in page_of("proven").text


def test_what_was_not_counted_is_not_called_none() -> None:
    assert "No breaks" not in page_of("nothing_known").text
    assert "No breaks, no recompiles, no host reads." in page_of("neutral").text


def test_the_environment_is_at_the_foot() -> None:
    text = page_of("proven").text
    foot = text[text.rindex("Environment") :]
    for fact in ("torch 2.13.0+cpu", "python 3.11.2", "device cpu", "command fullgraph prove", "backend inductor"):
        assert fact in foot


def test_several_verdicts_have_an_overview_and_show_a_shared_change_once() -> None:
    page = Page(verdict_html([SAMPLES["proven"](), SAMPLES["fake_cuda"](), SAMPLES["worse"]()]))
    assert "Together worse : 2 proven, 1 worse." in page.text
    assert page.text.count("The same change as above") == 1
    assert page.count("table", "diff") == 2


# The change


def test_words_that_changed_are_marked_on_both_sides() -> None:
    text = verdict_html([SAMPLES["proven"]()])
    assert "<mark>item</mark>" in text
    assert "<mark>detach</mark>" in text


def test_lines_that_resemble_each_other_stand_side_by_side() -> None:
    before = "total = losses[(i, j)] + bias\n"
    after = "import torch\n\nstride = 4\ntotal = losses[i * stride + j] + bias\n"
    (file,) = read_diff(diff_of({"a.py": before}, {"a.py": after}))
    pairs = [(old.text if old else "", new.text if new else "") for old, new in side_by_side(file.hunks[0])]
    assert pairs[-1] == (before.strip(), "total = losses[i * stride + j] + bias")
    assert pairs[0] == ("", "import torch")


def test_every_line_is_shown_once_on_each_side_in_order() -> None:
    for make in SAMPLES.values():
        for file in read_diff(make().diff):
            for hunk in file.hunks:
                pairs = list(side_by_side(hunk))
                assert [old for old, _ in pairs if old] == [line for line in hunk.lines if line.old is not None]
                assert [new for _, new in pairs if new] == [line for line in hunk.lines if line.new is not None]


def test_lines_with_nothing_in_common_have_no_marks_and_long_ones_only_one() -> None:
    assert changed_words("import os", "return total + 1") == ([], [])
    long = ", ".join(f"name_{number}" for number in range(3_000))
    old, new = changed_words(f"x = [{long}]", f"x = [{long}, last]")
    assert (len(old), len(new)) == (1, 1)
    assert list(aligned([], [])) == []


def test_a_changed_line_ending_is_shown_and_a_common_one_is_not() -> None:
    base = SAMPLES["proven"]()
    ending = replace(base, diff=diff_of({"a.py": "x = 1\r\n"}, {"a.py": "x = 1\n"}))
    common = replace(base, diff=diff_of({"a.py": "x = 1\r\n"}, {"a.py": "x = 2\r\n"}))
    assert "\\x0d" in verdict_html([ending])
    assert "\\x0d" not in verdict_html([common])


def test_changed_lines_that_ran_are_marked() -> None:
    page = page_of("proven")
    assert page.count("td", "ran") == 6


def test_a_big_change_is_folded_and_a_small_one_is_not() -> None:
    for name, expected in (("big", [True, False, False]), ("proven", [True])):
        files = [attributes for tag, attributes in page_of(name).tags if attributes.get("class") == "file"]
        assert ["open" in attributes for attributes in files] == expected


# The graphs


def test_graphs_stand_in_order_with_the_break_after_each() -> None:
    (frame,) = frames_of(SAMPLES["proven"]().before)
    shape = [(one.number, one.gap.id if one.gap else "", [number for number, _ in one.again]) for one in frame.captured]
    assert shape == [(1, BRANCH.id, [4, 5]), (2, ITEM.id, [6]), (3, PRINT.id, [7])]
    assert not frame.others


def test_graphs_that_name_only_their_function_still_get_their_own_breaks() -> None:
    """Torch's resumed functions begin where the whole function does; a break may have been met again by a recompile."""
    base = SAMPLES["proven"]().before
    graphs = tuple(replace(graph, line=18) for graph in base.graphs or ())
    breaks = tuple(replace(one, count=3) for one in (BRANCH, ITEM, PRINT))
    (frame,) = frames_of(replace(base, graphs=graphs, breaks=breaks))
    assert [one.gap.line for one in frame.captured if one.gap] == [20, 23, 24]
    assert sum(len(one.again) for one in frame.captured) == 4


def test_a_break_in_an_inlined_call_ends_the_graph_of_its_caller() -> None:
    base = SAMPLES["worse"]().after
    inlined = replace((base.breaks or ())[0], function="warn_once", file="warning.py")
    (frame,) = frames_of(replace(base, breaks=(inlined,)))
    assert [one.gap for one in frame.captured] == [None, inlined, None]


def test_every_graph_and_every_break_is_in_the_picture() -> None:
    side = SAMPLES["big"]().before
    frames = frames_of(side)
    captured = [one for frame in frames for one in frame.captured]
    assert sum(1 + len(one.again) for one in captured) == len(side.graphs or ()) == 63
    shown = [one.gap for one in captured if one.gap] + [gap for frame in frames for gap in frame.others]
    assert sorted(shown, key=repr) == sorted(side.breaks or (), key=repr)
    page = page_of("big")
    assert page.count("li", "graph") == 60 + 12
    assert page.count("li", "gap") == 48
    assert page.count("li", "skipped") == 4


# The plots


def test_every_block_is_a_dot_and_every_ratio_has_its_interval() -> None:
    verdict = SAMPLES["proven"]()
    page = Page(verdict_html([verdict]))
    blocks = [(*side.eager_s, *side.compiled_s, *side.cold_s) for side in (verdict.before, verdict.after)]
    assert page.count("circle", "dot") == sum(map(len, blocks))
    assert page.count("circle", "point") == 3
    labels = [attributes.get("aria-label") or "" for tag, attributes in page.tags if tag == "svg"]
    assert any(re.fullmatch(r"compiled: 1\.30, 95 % interval 1\.28 to 1\.32, 40 blocks", label) for label in labels)


def test_times_that_are_all_the_same_or_not_finite_are_drawn_all_the_same() -> None:
    base = SAMPLES["proven"]()
    for seconds in ((0.1,) * 5, (0.0, 0.0), (0.1,), (float("nan"), 0.1, 0.2), (1e-9, 100.0)):
        Page(verdict_html([replace(base, before=replace(base.before, eager_s=seconds), after=base.after)]))


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (1.83, 1.831), (0, 5000), (99, 101), (1e-7, 3e-7)])
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 6
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


@pytest.mark.parametrize("reach", [0.12, 0.3, 1.0, 4.7])
def test_the_ratio_axis_always_names_one(reach: float) -> None:
    ticks = ratio_ticks(reach)
    assert 1.0 in ticks
    assert 3 <= len(ticks) <= 9


# Colours

SURFACES = ("paper", "panel", "sunk")
TONES = ("better", "same", "worse", "different", "unknown")
CODE = ("ink", "keyword", "string", "comment")
PAIRS = [
    *product(("ink", "quiet"), SURFACES),
    *product(("link", *TONES), ("paper", "panel")),
    *product(CODE, ("panel", "gone", "come", "gone-mark", "come-mark")),
    *product(("quiet",), ("gone", "come")),
    *(("different", "gone"), ("better", "come"), ("ink", "graph"), ("worse", "graph")),
    *(("better", "sunk"), ("different", "sunk")),
]


def palettes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{([^}]*--paper[^}]*--after[^}]*)\}", STYLE.read_text())
    found = {
        name: dict(re.findall(r"--([\w-]+): (#\w{6});", text)) for name, text in (("light", light), ("dark", dark))
    }
    assert found["light"].keys() == found["dark"].keys()
    return found


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_the_contrast_of_wcag_aa(scheme: str) -> None:
    colors = palettes()[scheme]
    for text, ground in PAIRS:
        one, other = sorted((luminance(colors[text]), luminance(colors[ground])))
        assert (other + 0.05) / (one + 0.05) >= 4.5, f"{text} on {ground}"


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if not chromium:
        pytest.skip("no Chromium is installed")
    started = Browser(chromium)
    yield started
    started.close()


@pytest.mark.parametrize("name", ["proven", "different", "crash", "big", "hostile", "all"])
def test_the_page_fits_at_every_width_in_light_and_dark_without_an_error(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "report.html"
    file.write_text(verdict_html(verdicts_of(name)), encoding="utf-8")
    shots = {}
    for width, scheme in product((390, 1280), ("light", "dark")):
        browser.open(file, width, scheme)
        assert browser.evaluate("innerWidth") == width
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate(OVERFLOWING) == []
        assert browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
        shots[width, scheme] = browser.screenshot(whole=False)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
    assert len(set(shots.values())) == 4
    assert all(shot.startswith(b"\x89PNG") for shot in shots.values())


@pytest.mark.parametrize("width", [360, 600, 740, 900, 1600])
def test_the_page_fits_at_widths_in_between(browser: Browser, tmp_path: Path, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(verdict_html(verdicts_of("big")), encoding="utf-8")
    browser.open(file, width, "light")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OVERFLOWING) == []


def test_the_keyboard_reaches_the_verdict_first_and_folds_the_files(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(verdict_html(verdicts_of("proven")), encoding="utf-8")
    browser.open(file, 1280, "light")
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.press("Enter")
    assert browser.evaluate("location.hash") == "#main"
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.tagName") == "SUMMARY"
    browser.press("Enter")
    assert browser.evaluate("document.activeElement.parentElement.open") is False


def test_a_print_is_light_and_unfolded(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(verdict_html(verdicts_of("big")), encoding="utf-8")
    folded = "document.querySelector('details.file:not([open]) table').checkVisibility({contentVisibilityAuto: true})"
    browser.open(file, 1000, "dark")
    assert browser.evaluate(folded) is False
    browser.open(file, 1000, "dark", media="print")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate("getComputedStyle(document.body).color") == "rgb(34, 38, 43)"
    assert browser.evaluate(folded) is True
