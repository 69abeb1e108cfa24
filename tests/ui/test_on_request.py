"""Codemods that run only where they are asked for by name."""

from __future__ import annotations

from codemods.registry import all_codemods
from codemods.ui.config import Config, choose_codemods
from codemods.ui.explain import ON_REQUEST, explain, list_codemods

NAME = "count_compiled_calls"


def names(config: Config, *select: str) -> list[str]:
    return [codemod.name for codemod in choose_codemods(config, select=select)]


def test_a_plain_run_leaves_them_out_and_nothing_else() -> None:
    asked = {name for name, kind in all_codemods().items() if kind.on_request}
    assert NAME in asked
    assert set(names(Config())) == set(all_codemods()) - asked


def test_the_command_line_and_the_configuration_can_ask_for_them() -> None:
    assert names(Config(), NAME) == [NAME]
    assert names(Config(select=(NAME, "disable_compile"))) == [NAME, "disable_compile"]


def test_ignoring_another_does_not_bring_them_in() -> None:
    assert NAME not in names(Config(ignore=("disable_compile",)))


def test_list_and_explain_say_so() -> None:
    lines = {line.split()[0]: line for line in list_codemods().splitlines()}
    assert lines[NAME].endswith("(on request)")
    assert not lines["disable_compile"].endswith("(on request)")
    assert ON_REQUEST in explain(NAME)
    assert ON_REQUEST not in explain("disable_compile")
