"""What the pages say is true: commands and options exist, numbers are those of the code, recipes are well formed."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.cli import main
from tests.docs.pages import PAGES, ROOT, blocks

DOCS = ROOT / "docs"


def shown_commands() -> list[tuple[str, str]]:
    """Every line of a block that calls fullgraph, with its page."""
    found = []
    for page in PAGES:
        for language, text in blocks(page):
            lines = text.splitlines() if language in ("", "sh", "console", "yaml") else []
            calls = (re.match(r"\s*(?:\$ |- run: )?(fullgraph [^#|&;]*)", line) for line in lines)
            found += [(page.relative_to(ROOT).as_posix(), call[1].strip()) for call in calls if call]
    return found


@pytest.mark.parametrize(("page", "command"), shown_commands())
def test_a_command_that_is_shown_is_understood(page: str, command: str) -> None:
    """Names and options exist, and values are of their kind. Nothing is run."""
    words = shlex.split(re.split(r" [<>] ", command)[0])[1:]
    kind: click.Command = main
    while isinstance(kind, click.Group) and words and not words[0].startswith("-"):
        kind = kind.commands[words.pop(0)]
    if "--help" not in words:
        kind.make_context("fullgraph", words)


def test_the_validators_page_has_the_margins_of_the_code() -> None:
    from fullgraph.validate import judge
    from fullgraph.validate.confirm import TIMES, TIMES_FOR_LITTLE
    from fullgraph.validate.pair import COLD_STARTS

    page = (DOCS / "validator.md").read_text()
    numbers = {1: "one", 2: "two", 3: "three", 6: "six"}
    assert f"beyond {judge.MARGIN - 1:.0%}".replace("%", " %") in page
    assert f"beyond {judge.COLD_MARGIN - 1:.0%}, in {numbers[COLD_STARTS]} pairs".replace("%", " %") in page
    assert f"by {judge.GUARD_MARGIN - 1:.0%} and by {judge.GUARD_FLOOR_US:.0f} µs".replace("%", " %") in page
    memory = f"by {judge.MEMORY_MARGIN - 1:.0%} and by {judge.MEMORY_FLOOR // 2**20} MiB"
    assert memory.replace("%", " %") in page
    assert f"{numbers[TIMES]}\nfresh pairs, and in {numbers[TIMES_FOR_LITTLE]} if" in page


def test_the_validators_page_says_what_is_weighty() -> None:
    from fullgraph.validate.judge import WEIGHTY

    page = (DOCS / "validator.md").read_text()
    weighty = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| yes \|$", page)
    assert len(weighty) == len(WEIGHTY) - 1, "equivalence is decided before"


def test_the_validators_page_has_every_verdict() -> None:
    from fullgraph.validate.model import Ruling

    page = (DOCS / "validator.md").read_text()
    assert re.findall(r"(?m)^\| (\w+) \| [^|]+ \|$", page)[1:6] == [
        *("proven", "neutral", "worse", "different", "undecided")
    ]
    assert {ruling.value for ruling in Ruling} == {"proven", "neutral", "worse", "different", "undecided"}


def test_the_pipelines_page_has_every_form_and_exit_code() -> None:
    from fullgraph.codemods.ui.ci.outputs import FORMS

    page = (DOCS / "ci.md").read_text()
    assert tuple(re.findall(r"(?m)^\| `(\w+)` \| [^|]+ \|$", page)) == FORMS
    assert re.findall(r"(?m)^\| (\d+) \|", page) == ["0", "1", "2", "3", "4", "130"]


def test_the_recipes_name_inputs_hooks_and_variables_that_exist() -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    recipes = [yaml.safe_load(text) for language, text in blocks(DOCS / "ci.md") if language == "yaml"]
    steps = [step for recipe in recipes for job in recipe.get("jobs", {}).values() for step in job["steps"]]
    (used,) = [step["with"] for step in steps if "/fullgraph@" in step.get("uses", "")]
    assert set(used) <= set(action["inputs"])
    (repository,) = [one for recipe in recipes for one in recipe.get("repos", ())]
    assert {hook["id"] for hook in repository["hooks"]} == hooks
    (included,) = [recipe for recipe in recipes if "include" in recipe]
    assert (ROOT / included["include"][0]["file"]).is_file()
    job = (ROOT / "ci" / "gitlab.yml").read_text()
    assert all(name in job for name in included["variables"])


def test_the_pipelines_page_lists_the_inputs_with_their_defaults() -> None:
    yaml = pytest.importorskip("yaml")
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    table = re.findall(r"(?m)^\| `([\w-]+)` \| (?:`([^`]*)`)? ?\| [^|]+ \|$", (DOCS / "ci.md").read_text())
    assert dict(table) == {name: item["default"] for name, item in inputs.items()}


def test_the_changelog_names_every_codemod_and_command() -> None:
    page = (ROOT / "CHANGELOG.md").read_text()
    for name in (*bundled(), *main.commands):
        assert f"`{name}" in page, name


def test_commands_for_make_exist() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    for page in PAGES:
        assert set(re.findall(r"\bmake ([a-z]+)[ `]*(?:#|`)", page.read_text())) <= targets, page


def test_no_page_names_a_place_of_one_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/(?:home|work|root|Users)/", page.read_text()), page
