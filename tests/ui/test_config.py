"""`[tool.fullgraph]` of the nearest pyproject.toml, and the command line before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.config import Config, choose_codemods, parse_options, read_config
from tests.ui.running import run, write_project
from tests.ui.sample_codemod import CallFast, FlattenNest, RenameShared

LOADED = [CallFast, FlattenNest, RenameShared]


def configured(root: Path, table: str) -> Path:
    (root / "pyproject.toml").write_text(table)
    return root


def test_every_key_is_read(tmp_path: Path) -> None:
    configured(
        tmp_path,
        "[tool.fullgraph]\nselect = ['a']\nignore = ['b']\nexclude = ['*.py']\n"
        "[tool.fullgraph.options.call_fast]\nto = 'x'\ntimes = 3\nloud = true\n",
    )
    config = read_config(tmp_path)
    assert (config.select, config.ignore, config.exclude) == (("a",), ("b",), ("*.py",))
    assert config.options == {"call_fast": {"to": "x", "times": "3", "loud": "true"}}


def test_the_nearest_file_counts_and_no_file_is_no_configuration(tmp_path: Path) -> None:
    configured(tmp_path, "[tool.fullgraph]\nexclude = ['outer']\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert read_config(tmp_path / "a" / "b").exclude == ("outer",)
    configured(tmp_path / "a", "[project]\nname = 'inner'\n")
    assert read_config(tmp_path / "a" / "b") == Config(file=tmp_path / "a" / "pyproject.toml")


TELEMETRY = "import torch\n\n\ndef log_stats(model):\n    return [p.norm().item() for p in model.parameters()]\n"


def test_the_torch_to_write_for_is_one_for_all_and_the_command_line_comes_first(tmp_path: Path) -> None:
    write_project(tmp_path, {"stats.py": TELEMETRY, "ticket.md": "# T-1: disable\n\nAdd `@torch.compiler.disable`.\n"})
    configured(tmp_path, "[project]\nname = 'a'\ndependencies = ['torchvision>=0.19', 'torch>=2.0']\n")
    select = ["--select", "disable_compile", "."]
    assert "torch 2.0 (pyproject.toml:3) has no torch.compiler.disable" in run(tmp_path, "check", *select).out
    configured(tmp_path, "[tool.fullgraph]\ntorch = '2.0'\n")
    assert "left alone: torch 2.0 (--torch) has no" in run(tmp_path, "check", "--all", *select).out
    assert "reason=" in run(tmp_path, "fix", "--torch", "2.9", "--diff", "--unsafe", *select).out
    assert "--torch: 'x' is not a version" in run(tmp_path, "check", "--torch", "x", *select).err


def test_the_command_line_comes_first(project: Path) -> None:
    configured(
        project,
        "[tool.fullgraph]\nignore = ['rename_shared']\nexclude = ['c.py']\n"
        "[tool.fullgraph.options.call_fast]\nto = 'configured'\nloud = true\n",
    )
    result = run(project, "fix", "--diff", "pkg/b.py")
    assert "+    configured()" in result.out
    assert "common" not in result.out
    result = run(project, "fix", "--diff", "pkg/b.py", "--option", "call_fast.to=given")
    assert "+    given()" in result.out
    assert "note: this is loud" in run(project, "check", "--option", "call_fast.to=given").out
    assert "rename_shared" in run(project, "check", "--all", "--select", "rename_shared", "pkg/c.py").out


def test_excludes_of_both_are_added_up(project: Path) -> None:
    configured(project, "[tool.fullgraph]\nexclude = ['c.py']\n")
    assert "1 finding in 1 file" in run(project, "check", "--exclude", "a.py").err


def test_select_on_the_command_line_replaces_that_of_the_configuration() -> None:
    config = Config(select=("call_fast",), ignore=("flatten_nest",))
    assert [c.name for c in choose_codemods(config, select=["flatten_nest"], loaded=LOADED)] == ["flatten_nest"]


def test_codemods_of_a_file_run_alone_unless_others_are_selected() -> None:
    assert [codemod.name for codemod in choose_codemods(Config(), loaded=LOADED)] == [kind.name for kind in LOADED]
    both = choose_codemods(Config(), select=["call_fast", "disable_compile"], loaded=LOADED)
    assert [codemod.name for codemod in both] == ["call_fast", "disable_compile"]


@pytest.mark.parametrize("text", ["x", "x=1", "x.y", ".y=1", "x.=1", ""])
def test_an_option_has_a_name_a_key_and_a_value(text: str) -> None:
    with pytest.raises(FullgraphError, match=r"write NAME\.KEY=VALUE"):
        parse_options([text])


def test_the_value_of_an_option_may_hold_anything() -> None:
    assert parse_options(["a.b=c=d.e", "a.b="]) == {"a": {"b": ""}}
    assert parse_options(["a.b=c=d.e"]) == {"a": {"b": "c=d.e"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.fullgraph", "pyproject.toml: Expected ']'"),
        ("[tool]\nfullgraph = 3", "[tool.fullgraph] must be a table"),
        ("[tool.fullgraph]\nslect = []", "[tool.fullgraph] has no key 'slect'; did you mean 'select'?"),
        ("[tool.fullgraph]\nfile = []", "[tool.fullgraph] has no key 'file'"),
        ("[tool.fullgraph]\nselect = 'x'", "select must be a list of strings"),
        ("[tool.fullgraph]\nexclude = [3]", "exclude must be a list of strings"),
        ("[tool.fullgraph]\nexclude = ['!']", "'!' is no pattern"),
        ("[tool.fullgraph]\ntorch = 'newest'", "[tool.fullgraph] torch: 'newest' is not a version; write 2.9"),
        ("[tool.fullgraph]\nignore = ['call_fats']", "there is no codemod 'call_fats'; did you mean 'call_fast'?"),
        ("[tool.fullgraph]\noptions = 3", "must hold one table per codemod"),
        ("[tool.fullgraph.options]\nx = 3", "must hold one table per codemod"),
        ("[tool.fullgraph.options.call_fats]\nx = 3", "there is no codemod 'call_fats'"),
        ("[tool.fullgraph.options.call_fast]\ntimes = 'x'", "option call_fast.times: 'x' is not a number"),
    ],
)
def test_what_is_wrong_is_one_line_and_the_other_projects_are_done(project: Path, text: str, said: str) -> None:
    write_project(project.parent / "other")
    configured(project, text)
    result = run(project.parent, "check", "-q", "--all", "--format", "concise", "project", "other")
    assert (result.code, result.out.count("\n")) == (2, 7)
    assert said in result.err
    assert result.err.count("\n") == 1
    held = json.loads(run(project.parent, "check", "--format", "json", "project", "other").out)
    assert said in held["errors"][0]["reason"]
    assert len(held["findings"]) == 7


def test_what_is_wrong_with_a_configured_name_names_the_file(project: Path) -> None:
    configured(project, "[tool.fullgraph]\nignore = ['call_fats']\n")
    assert f"{project}/pyproject.toml: there is no codemod" in run(project, "check").err


def test_a_file_that_is_not_text_is_one_line(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"\xff")
    assert run(project, "check").err == f"fullgraph: {project}/pyproject.toml: not UTF-8 text\n"


def test_other_tools_may_hold_what_they_like(project: Path) -> None:
    configured(project, "tool = 3\n")
    assert run(project, "check").code == 1


def test_a_codemod_file_is_loaded_once_for_all_projects(project: Path) -> None:
    loud = project.parent / "loud.py"
    loud.write_text("from fullgraph import Codemod\n\n\nclass SayNothing(Codemod): ...\n\n\nprint('loaded')\n")
    write_project(project.parent / "other")
    result = run(project.parent, "check", "--codemod", str(loud), "--select", "flatten_nest", "project", "other")
    assert result.code == 0
    assert result.err.count("loaded") == 1
