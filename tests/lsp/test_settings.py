"""What clients may set, in all the ways in which they send it."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.codemods.lsp.settings import ClientSettings, read_settings
from fullgraph.codemods.model import FullgraphError


@pytest.mark.parametrize("given", [None, {}, {"fullgraph": None}, {"fullgraph": {}}, {"select": None, "device": ""}])
def test_nothing_is_the_usual(given: Any) -> None:
    assert read_settings(given) == ClientSettings()


@pytest.mark.parametrize("wrap", [lambda held: held, lambda held: {"fullgraph": held}])
def test_a_section_comes_with_its_name_or_without(wrap: Any) -> None:
    held = {"select": ["disable_compile"], "exclude": ["old/"], "python": "/usr/bin/python3", "path": "fullgraph"}
    assert read_settings(wrap(held)) == ClientSettings(
        ("disable_compile",), (), ("old/",), {}, python="/usr/bin/python3"
    )


def test_options_are_read_as_the_command_line_reads_them() -> None:
    held = {"options": {"batch_host_reads": {"level": "all"}}}
    [codemod] = [one for one in chosen(held) if one.name == "batch_host_reads"]
    assert codemod.options.level == "all"


def chosen(held: Any) -> list[Any]:
    from fullgraph.codemods.ui.config import Config

    return list(read_settings(held).codemods(Config()))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("text", "must be an object"),
        ({"selct": []}, "no key 'selct'; did you mean 'select'?"),
        ({"select": "disable_compile"}, "select must be a list of strings"),
        ({"select": [1]}, "select must be a list of strings"),
        ({"select": ["disable_compil"]}, "did you mean 'disable_compile'?"),
        ({"options": []}, "options must hold one object per codemod"),
        ({"options": {"disable_compile": {"no": 1}}}, "has no option 'no'"),
        ({"python": 3}, "python must be a string"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(given: Any, words: str) -> None:
    with pytest.raises(FullgraphError) as caught:
        read_settings(given)
    assert words in str(caught.value)
    assert str(caught.value).startswith("settings: ")
    assert "\n" not in str(caught.value)


def test_the_torch_to_write_for_holds_for_every_codemod() -> None:
    assert {one.options.torch for one in chosen({"torch": "2.9"})} == {"2.9"}
    with pytest.raises(FullgraphError, match="settings: torch: 'x' is not a version"):
        chosen({"torch": "x"})
