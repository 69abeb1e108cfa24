"""The other forms: what each must look like for the program that reads it, and that all of them are always the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from referencing import Registry, Resource

from fullgraph.codemods.ui.ci.forms.as_github import escaped, escaped_property
from fullgraph.codemods.ui.ci.forms.as_markdown import code
from fullgraph.codemods.ui.ci.outputs import FORMS
from fullgraph.codemods.ui.verdict.as_json import schema as verdict_schema
from tests.ui.ci.jobs import Repository, ci, run, start
from tests.ui.running import SAMPLE, texts

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "codemods/ui/report/report.schema.json").read_text())
REGISTRY = Registry().with_resource("urn:fullgraph:verdict:1", Resource.from_contents(verdict_schema()))
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)

ODD = """\
def odd():
    slow("<b>|`*_%,:\\\\r]]>&\\x00\\ud800\\ufffe")
"""
"""Code whose text every form has to escape."""


# JSON


@pytest.mark.parametrize("arguments", [[], ["--fix"], ["--since", "HEAD"], ["--commit"], ["--fail-on", "none"]])
def test_json_is_as_its_schema_says(repository: Repository, arguments: list[str]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    repository.write("pkg/odd.py", "x = 1  # fullgraph: ignore[call_fast]\nslow()\n")
    if "--since" not in arguments:
        repository.commit()
    held = ci("--output", "json", *arguments).json
    VALIDATOR.validate(held)
    assert held["findings"]


@pytest.mark.parametrize("command", [["check"], ["fix", "--diff"], ["fix", "--yes"]])
def test_json_of_check_and_fix_is_as_the_same_schema_says(repository: Repository, command: list[str]) -> None:
    VALIDATOR.validate(run(*command, "--codemod", str(SAMPLE), "--format", "json").json)


def test_the_schema_is_strict(repository: Repository) -> None:
    held = ci("--output", "json").json
    assert not VALIDATOR.is_valid({**held, "more": 1})
    assert not VALIDATOR.is_valid({**held, "version": 2})
    held["findings"][0]["more"] = 1
    assert not VALIDATOR.is_valid(held)


def test_json_says_what_counts_and_where(repository: Repository) -> None:
    held = ci("--output", "json", "--fail-on", "safe").json
    first = held["findings"][0]
    assert (first["file"], first["counts"]) == ("pkg/a.py", True)
    assert first["region"] == {"first_line": 2, "first_column": 5, "last_line": 2, "last_column": 11}
    assert [found["counts"] for found in held["findings"]].count(False) == 2
    assert (held["ci"]["counting"], held["ci"]["fail_on"]) == (5, "safe")


# GitHub


def test_an_annotation_names_the_file_from_the_repository(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.root / "pkg")
    first = ci("--output", "github").out.splitlines()[0]
    assert first == (
        "::error file=pkg/a.py,line=2,endLine=2,col=5,endColumn=11,title=fullgraph%3A call_fast::"
        "slow() waits%0A`fullgraph fix` can write it safely"
    )


def test_annotations_are_escaped() -> None:
    assert escaped("50%\r\n::x") == "50%25%0D%0A::x"
    assert escaped_property("a:b,c%") == "a%3Ab%2Cc%25"


def test_what_fails_the_job_is_an_error_and_comes_first(repository: Repository) -> None:
    levels = [line.split(" ")[0] for line in ci("--output", "github", "--fail-on", "safe").out.splitlines()]
    assert levels == ["::error"] * 5 + ["::warning", "::notice"]
    assert "::error" not in ci("--output", "github", "--max-findings", "9").out


def test_an_annotation_is_one_line_whatever_the_file_is_called(repository: Repository) -> None:
    repository.write("pkg/a,b: c\n.py", ODD)
    out = ci("pkg", "--output", "github").out
    assert "file=pkg/a%2Cb%3A c%0A.py,line=2" in out
    assert all(line.startswith("::") for line in out.splitlines())


def test_what_cannot_be_read_is_an_annotation(repository: Repository) -> None:
    repository.write("pkg/bad.py", "slow(\n")
    assert "::error file=pkg/bad.py,line=1,title=fullgraph::" in ci("--output", "github").out


# GitLab


def test_gitlab_gets_all_that_it_requires(repository: Repository) -> None:
    repository.write("pkg/bad.py", "slow(\n")
    issues = ci("--output", "gitlab").json
    assert len(issues) == 8
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == 8


def test_gitlab_gets_unique_fingerprints_that_survive_drift(repository: Repository) -> None:
    repository.write("pkg/a.py", "slow()\n" * 5)
    before = [issue["fingerprint"] for issue in ci("--output", "gitlab", "pkg/a.py").json]
    assert len(set(before)) == 5
    repository.write("pkg/a.py", "# new\n\n" + "slow()\n" * 5)
    assert [issue["fingerprint"] for issue in ci("--output", "gitlab", "pkg/a.py").json] == before


def test_gitlab_gets_an_empty_list_without_findings(repository: Repository) -> None:
    repository.write("pkg/c.py", "")
    assert ci("--output", "gitlab", "pkg/c.py").json == []


# JUnit


def junit(*arguments: str) -> ElementTree.Element:
    return ElementTree.fromstring(ci("--output", "junit", *arguments).raw)


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_finding(repository: Repository) -> None:
    suites = junit("--fail-on", "safe")
    assert suites.attrib == {"name": "fullgraph", "tests": "7", "failures": "5", "errors": "0", "skipped": "2"}
    assert [suite.get("name") for suite in suites] == ["pkg/a.py", "pkg/b.py", "pkg/c.py"]
    names = [(case.get("classname"), case.get("name")) for case in suites.iter("testcase")]
    assert len(set(names)) == 7


def test_junit_tells_what_was_fixed_as_passed(repository: Repository) -> None:
    suites = junit("--fix")
    assert (suites.get("tests"), suites.get("failures")) == ("7", "2")


def test_junit_is_never_empty(repository: Repository) -> None:
    repository.write("pkg/c.py", "")
    assert junit("pkg/c.py").get("tests") == "1"
    repository.write("pkg/c.py", "slow(\n")
    assert junit("pkg/c.py").get("errors") == "1"


def test_junit_is_xml_whatever_the_code_holds(repository: Repository) -> None:
    repository.write("pkg/<odd> & \x01.py", ODD)
    texts_of = [element.get("message", "") for element in junit("pkg").iter("failure")]
    assert any("<b>" in text for text in texts_of)


# Markdown


def tables(raw: bytes) -> list[list[str]]:
    """The cells of every row, as Markdown reads it."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(raw.decode())
    rows: list[list[str]] = []
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in tokens[number + 1].children or ()))
    return rows


def test_the_summary_shows_each_finding_as_it_is(repository: Repository) -> None:
    repository.write("pkg/a|b `c`.py", ODD)
    rows = tables(ci("--output", "markdown").raw)
    assert ["pkg/a.py:2", "call_fast", "slow() waits", "`fullgraph fix` can write it safely"] in rows
    odd = next(row for row in rows if row[0] == "pkg/a|b `c`.py:2")
    assert odd[2].startswith('slow("<b>|`*_%,:')
    assert all(len(row) in (4, 6) for row in rows)


def test_code_between_back_ticks_may_hold_back_ticks() -> None:
    assert code("a") == "`a`"
    assert code("a`b``c") == "``` a`b``c ```"


def test_a_summary_goes_to_github_by_itself(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = ci()
    assert result.code == 1
    assert summary.read_text().startswith("# before\n## fullgraph: too many findings\n")
    ci("--fail-on", "none")
    assert summary.read_text().count("## fullgraph: ") == 2


def test_a_summary_that_cannot_be_written_does_not_fail_the_job(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository.root / "no" / "where"))
    result = ci("--fail-on", "none")
    assert result.code == 0
    assert "GITHUB_STEP_SUMMARY" in result.err


def test_a_summary_is_never_longer_than_github_takes(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("pkg/many.py", "slow()\n" * 300)
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"x" * 990_000)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    ci()
    text = summary.read_text()
    assert len(text.encode()) <= 1_000_000
    assert "more findings do not fit here." in text
    summary.write_bytes(b"x" * 1_048_570)
    ci()
    assert len(summary.read_bytes()) <= 1_048_576


def test_a_summary_that_has_to_be_cut_is_still_text() -> None:
    from fullgraph.codemods.ui.ci.forms.as_markdown import markdown
    from fullgraph.codemods.ui.ci.model import CiReport

    report = CiReport(errors=[("größe.py", "ü" * 40)])
    assert {markdown(report, room).decode()[-2:-1] for room in range(300)} > {"ü"}


# The patch


def test_the_patch_can_be_applied_and_gives_what_fix_writes(repository: Repository, tmp_path: Path) -> None:
    repository.write("pkg/ü ber.py", b"x = 1\r\nslow()\r\nslow()")
    repository.commit()
    patch = tmp_path / "fix.patch"
    assert ci("--output", f"patch={patch}").code == 1
    repository.git("apply", "--check", str(patch))
    repository.git("apply", str(patch))
    applied = texts(repository.root)
    repository.git("checkout", "--quiet", ".")
    ci("--fix", "--output", f"patch={tmp_path / 'written.patch'}")
    assert texts(repository.root) == applied
    assert (tmp_path / "written.patch").read_bytes() == patch.read_bytes()


def test_a_patch_from_a_folder_below_says_where_it_counts_from(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.root / "pkg")
    result = ci("--output", "patch")
    assert f"The patch counts from {repository.root}." in result.err
    repository.git("apply", "--check", given=result.raw)


def test_asking_for_the_patch_changes_nothing_else(repository: Repository, tmp_path: Path) -> None:
    plain = ci()
    with_patch = ci("--output", f"patch={tmp_path / 'fix.patch'}")
    assert (with_patch.code, with_patch.out, with_patch.err) == (plain.code, plain.out, plain.err)


def test_the_patch_holds_what_is_unsafe_on_request(repository: Repository) -> None:
    assert "+            fast(item)" not in ci("--output", "patch").out
    assert "+            fast(item)" in ci("--output", "patch", "--unsafe").out


# All of them


def everything(root: Path, out: Path, *arguments: str) -> dict[str, bytes]:
    """All forms of one job."""
    outputs = [part for form in FORMS for part in ("--output", f"{form}={out / form}")]
    process = start(root, *arguments, *outputs)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 1, said.decode()
    return {form: (out / form).read_bytes() for form in FORMS}


def test_every_form_can_hold_odd_code(repository: Repository, tmp_path: Path) -> None:
    repository.write("pkg/odd.py", ODD)
    made = everything(repository.root, tmp_path, "--codemod", str(SAMPLE))
    assert all(b"odd" in made[form] for form in FORMS if form != "patch")


def test_every_form_can_hold_a_name_that_is_no_text(repository: Repository, tmp_path: Path) -> None:
    repository.write(os.fsdecode(b"pkg/caf\xe9.py"), "slow()\n")
    made = everything(repository.root, tmp_path, "--codemod", str(SAMPLE))
    assert b"pkg/caf\xe9.py" in made["patch"]
    assert b"pkg/caf%E9.py" in made["sarif"]
    ElementTree.fromstring(made["junit"])


def test_no_form_tells_the_time_or_the_order_of_work(repository: Repository, tmp_path: Path) -> None:
    """Real codemods over enough text to be worth processes, with one and with two of them."""
    from fullgraph.codemods.ui.explain import fixtures_folder, side

    for number, case in enumerate(sorted(fixtures_folder().glob("*/*/"))[:60]):
        for path, raw in side(case, "before").items():
            repository.write(f"part_{number}/{path}", raw)
    repository.write("big.py", "".join(f"value_{number} = {number}\n" for number in range(60_000)))
    alone, together = (
        everything(repository.root, tmp_path / jobs, "--no-cache", "--jobs", jobs) for jobs in ("1", "2")
    )
    assert alone == together
    assert len(json.loads(alone["json"])["findings"]) > 20
