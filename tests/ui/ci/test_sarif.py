"""SARIF: as the official schema has it, as GitHub takes it, with fixes that give the bytes that `fix` writes.

`sarif-2.1.0-rtm.5.json` is the schema of the final standard, as https://www.schemastore.org and Microsoft's
`@microsoft/jest-sarif` hold it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft4Validator

from fullgraph.codemods.ui.ci.forms import as_sarif
from fullgraph.codemods.ui.explain import fixtures_folder, side
from tests.ui.ci.jobs import Repository, ci, run
from tests.ui.running import write_project

OFFICIAL = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text())
ROOT = Path(__file__).parent.parent.parent.parent
GATED = fixtures_folder() / "gate_compile" / "basic"
VALIDATOR = Draft4Validator(OFFICIAL, format_checker=Draft4Validator.FORMAT_CHECKER)


def sarif(*arguments: str) -> dict[str, Any]:
    """The one run of a valid log."""
    log = ci("--output", "sarif", *arguments).json
    VALIDATOR.validate(log)
    assert len(log["runs"]) == 1
    made: dict[str, Any] = log["runs"][0]
    return made


def region_of(result: dict[str, Any]) -> dict[str, int]:
    region: dict[str, int] = result["locations"][0]["physicalLocation"]["region"]
    return region


def address_of(result: dict[str, Any]) -> dict[str, str]:
    address: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return address


def test_the_log_is_as_the_official_schema_says(repository: Repository) -> None:
    Draft4Validator.check_schema(OFFICIAL)
    assert len(sarif()["results"]) == 7
    broken = {"version": "2.1.0", "runs": [{"results": []}]}
    assert not VALIDATOR.is_valid(broken)


def test_a_job_without_findings_or_with_errors_is_valid_too(repository: Repository) -> None:
    repository.write("pkg/bad.py", "slow(\n")
    repository.write("pkg/odd.py", "x = 1  # fullgraph: ignore[call_fast]\n")
    invocation = sarif()["invocations"][0]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    told = {note["level"]: note["locations"][0] for note in invocation["toolExecutionNotifications"]}
    assert told["error"]["physicalLocation"]["artifactLocation"]["uri"] == "pkg/bad.py"
    assert told["warning"]["physicalLocation"]["region"]["startLine"] == 1
    for path in ("a", "b", "c", "bad", "odd"):
        repository.write(f"pkg/{path}.py", "")
    assert sarif()["results"] == []


def test_addresses_are_relative_and_encoded(repository: Repository) -> None:
    repository.write("a b/größe #1%.py", "slow()\n")
    found = sarif("a b")
    assert [address_of(result) for result in found["results"]] == [
        {"uri": "a%20b/gr%C3%B6%C3%9Fe%20%231%25.py", "uriBaseId": "SRCROOT"}
    ]
    assert "SRCROOT" in found["originalUriBaseIds"]


def test_what_github_asks_for_is_there(repository: Repository) -> None:
    found = sarif()
    kinds = found["tool"]["driver"]["rules"]
    assert [kind["id"] for kind in kinds] == ["call_fast", "rename_shared"]
    for kind in kinds:
        assert kind["shortDescription"]["text"]
        assert kind["fullDescription"]["text"]
        assert kind["help"]["markdown"].startswith(f"# {kind['id']}\n")
        assert kind["help"]["text"]
        assert len(kind["properties"]["tags"]) <= 20
    for result in found["results"]:
        assert kinds[result["ruleIndex"]]["id"] == result["ruleId"]
        region = region_of(result)
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
        assert min(region.values()) >= 1
        assert set(result["partialFingerprints"]) == {"primaryLocationLineHash", "fullgraph/v1"}


def test_every_bundled_codemod_can_be_described() -> None:
    from fullgraph.codemods.registry import all_codemods
    from fullgraph.codemods.ui.ci.forms.sarif_kinds import describe

    for name, kind in all_codemods().items():
        described = describe(name, kind)
        assert (ROOT / described["helpUri"]).is_file()
        assert "```diff\n--- " in described["help"]["markdown"]
        assert all(described[part]["text"] for part in ("shortDescription", "fullDescription", "help"))
        assert "Left alone" in described["help"]["markdown"]
        driver = {"name": "fullgraph", "rules": [described]}
        VALIDATOR.validate({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": []}]})


def test_fingerprints_are_unique_and_survive_drift(repository: Repository) -> None:
    repository.write("pkg/a.py", "slow()\nslow()\n")
    before = [result["partialFingerprints"] for result in sarif("pkg/a.py")["results"]]
    assert len({mark["fullgraph/v1"] for mark in before}) == 2
    assert len({mark["primaryLocationLineHash"] for mark in before}) == 2
    repository.write("pkg/a.py", "\n\n# moved\nslow()\nx = 1\nslow( )\n")
    assert [result["partialFingerprints"] for result in sarif("pkg/a.py")["results"]] == before


def test_what_is_left_alone_is_a_note_without_a_fix(repository: Repository) -> None:
    levels = [(result["level"], "fixes" in result) for result in sarif()["results"]]
    assert levels.count(("note", False)) == 1
    assert levels.count(("warning", True)) == 6


def test_what_was_fixed_is_no_result(repository: Repository) -> None:
    found = sarif("--fix")
    assert [result["level"] for result in found["results"]] == ["warning", "note"]


def position(text: str, line: int, column: int) -> int:
    """Where a place of SARIF's stands in a text: a line ends behind `\\n`."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def apply_fixes(root: Path, results: list[dict[str, Any]]) -> None:
    """Make all fixes, as a reader of SARIF would who knows nothing of us."""
    replaced: dict[str, set[tuple[int, int, str]]] = {}
    for change in (change for r in results for fix in r.get("fixes", ()) for change in fix["artifactChanges"]):
        path = unquote(change["artifactLocation"]["uri"])
        text = (root / path).read_bytes().decode("utf-8-sig") if (root / path).exists() else ""
        for one in change["replacements"]:
            region = one["deletedRegion"]
            start = position(text, region["startLine"], region["startColumn"])
            end = position(text, region["endLine"], region["endColumn"])
            replaced.setdefault(path, set()).add((start, end, one["insertedContent"]["text"]))
    for path, changes in replaced.items():
        raw = (root / path).read_bytes() if (root / path).exists() else b""
        mark = raw[:3] if raw.startswith(b"\xef\xbb\xbf") else b""
        text = raw.decode("utf-8-sig")
        for start, end, new_text in sorted(changes, reverse=True):
            text = text[:start] + new_text + text[end:]
        (root / path).parent.mkdir(exist_ok=True, parents=True)
        (root / path).write_bytes(mark + text.encode())


def snapshot(root: Path) -> dict[str, bytes]:
    found = [*root.rglob("*.py"), *root.rglob("*.ipynb")]
    ours = [file.relative_to(root) for file in found]
    return {str(path): (root / path).read_bytes() for path in ours if path.parts[0] != ".fullgraph"}


BOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# ü\n", "text"]},
            {
                "cell_type": "code",
                "execution_count": 1,
                "metadata": {},
                "outputs": [],
                "source": ['x = "\\u00fc\t😀"\n', "slow()\n", "y = slow(); slow()"],
            },
            {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": "slow()\nslow()\n"},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("plain.py", "x = 1\nslow()\n"),
        ("crlf.py", "x = 1\r\nslow()\r\nslow()"),
        ("wide.py", '"""😀 ü"""; slow(); "日本"; slow()\n'),
        ("mark.py", "\ufeffslow()\nslow()\n"),
        ("feed.py", "x = 1\n\f\nslow()\n"),
        ("old_mac.py", "x = 1\rslow()\rslow()\n"),
        ("book.ipynb", BOOK),
    ],
)
def test_fixes_give_the_bytes_that_fix_writes(repository: Repository, path: str, text: str) -> None:
    repository.write(path, text)
    results = sarif(path)["results"]
    assert results
    apply_fixes(repository.root, results)
    by_sarif = (repository.root / path).read_bytes()
    repository.write(path, text)
    ci("--fix", path, "--allow-dirty")
    assert (repository.root / path).read_bytes() == by_sarif
    assert b"fast" in by_sarif


def test_a_fix_over_several_files_is_one_fix(repository: Repository) -> None:
    results = [result for result in sarif()["results"] if result["ruleId"] == "rename_shared"]
    changes = results[0]["fixes"][0]["artifactChanges"]
    assert [change["artifactLocation"]["uri"] for change in changes] == ["pkg/b.py", "pkg/c.py"]


def test_fixes_that_create_files_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [fresh_copy(tmp_path / name) for name in ("by_sarif", "by_fix")]
    monkeypatch.chdir(sides[0])
    log = run("ci", "--select", "gate_compile", "--output", "sarif").json
    VALIDATOR.validate(log)
    apply_fixes(sides[0], log["runs"][0]["results"])
    monkeypatch.chdir(sides[1])
    run("ci", "--select", "gate_compile", "--fix", "--unsafe")
    assert len(snapshot(sides[0])) > len(side(GATED, "before"))
    assert snapshot(sides[0]) == snapshot(sides[1])


def fresh_copy(root: Path) -> Path:
    return write_project(root, {path: raw.decode() for path, raw in side(GATED, "before").items()})


def test_no_more_results_than_github_takes(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_sarif, "MOST", 3)
    found = sarif("--fail-on", "safe")
    assert len(found["results"]) == 3
    assert all(result["properties"]["safety"] == "safe" and "fixes" in result for result in found["results"])
    assert "4 findings are left out" in found["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]


def test_a_subfolder_as_root_counts_from_the_repository(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("deep/pyproject.toml", "")
    repository.write("deep/x.py", "slow()\n")
    monkeypatch.chdir(repository.root / "deep")
    assert [address_of(result)["uri"] for result in sarif()["results"]] == ["deep/x.py"]
