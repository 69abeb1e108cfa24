"""What is shown while somebody types."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from lsprotocol.types import DiagnosticSeverity, DiagnosticTag

from tests.lsp.client import Editor, uri_of
from tests.lsp.conftest import Start


async def codes(used: Editor, uri: str) -> list[object]:
    return [found.code for found in await used.diagnostics(uri)]


async def test_findings_say_what_they_are(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        found = await used.diagnostics(uri)
    assert [(one.code, one.range.start.line) for one in found] == [("call_fast", line) for line in (1, 8, 9, 10)]
    assert {one.source for one in found} == {"fullgraph"}
    assert found[0].message == "slow() waits"
    assert found[0].severity is DiagnosticSeverity.Warning
    assert found[1].message == "slow(item) waits\nunsafe: fast() may read its argument twice"
    assert found[2].message == "slow(*items) waits\nleft alone: the arguments are not known"
    assert found[2].severity is DiagnosticSeverity.Information


async def test_a_codemod_of_the_catalogue_links_to_its_page(start: Start, tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch._dynamo.disable\ndef f(x):\n    return x\n"
    async with start(tmp_path, settings={}) as used:
        [found] = await used.diagnostics(used.open(tmp_path / "a.py", text))
    assert found.code == "use_public_compiler_api"
    assert found.code_description
    assert found.code_description.href.endswith("/use_public_compiler_api.md")
    assert Path(unquote(urlparse(found.code_description.href).path)).is_file()


async def test_what_is_typed_is_looked_at_before_it_is_saved(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "c.py")
        assert await codes(used, uri) == ["rename_shared", "call_fast"]
        used.type(uri, "slow() or 1", "1")
        assert await codes(used, uri) == ["rename_shared"]
        used.type(uri, "1", "slow()")
        assert await codes(used, uri) == ["rename_shared", "call_fast"]
    assert "slow() or 1" in (project / "pkg" / "c.py").read_text()


async def test_the_last_version_wins(start: Start, project: Path) -> None:
    versions: list[int | None] = []
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "long_wait = 1\n")
        await used.diagnostics(uri)
        used.seen = Recorded(versions)
        for number in range(8):
            used.type(uri, "long_wait", f"long_wait_{number}")
        await used.until(lambda: 9 in versions)
        found = used.seen[uri][1]
    assert found[0].message == f"{len('long_wait = 1') + 1 + 2 * 8} characters"
    assert len(versions) < 8
    assert versions == sorted(version or 0 for version in versions)


class Recorded(dict):  # type: ignore[type-arg]
    """Diagnostics by URI, and every version that came."""

    def __init__(self, versions: list[int | None]) -> None:
        super().__init__()
        self.versions = versions

    def __setitem__(self, uri: str, told: tuple[int | None, object]) -> None:
        self.versions.append(told[0])
        super().__setitem__(uri, told)


async def test_a_buffer_wins_over_the_disk_in_other_files_too(start: Start, project: Path) -> None:
    async with start(project) as used:
        shared = used.open(project / "pkg" / "c.py")
        other = used.open(project / "pkg" / "b.py")
        await used.diagnostics(other)
        used.type(other, "shared()\n", "nothing()  # shared, once\n")
        await used.diagnostics(other)
        [action] = [one for one in await used.actions(shared) if one.title.startswith("rename_shared")]
        made = await used.make(action)
    assert "nothing()  # common, once" in made[other]
    assert made[shared].startswith("def common():")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_emoji_and_crlf_move_nothing(start: Start, project: Path, encoding: str) -> None:
    text = 'label = "🌱🌱"; slow()\r\n\r\ndef grow():\r\n    return "ä🌿", slow()  # 🌱\r\n'
    async with start(project, encodings=[encoding]) as used:
        assert used.capabilities.position_encoding == encoding
        uri = used.open(project / "pkg" / "d.py", text)
        found = await used.diagnostics(uri)
        assert [used.text_at(uri, one.range) for one in found] == ["slow()", "slow()"]
        used.type(uri, "🌱🌱", "🌱 and 🌱🌱")
        used.type(uri, "ä🌿", "🌿🌿🌿")
        found = await used.diagnostics(uri)
        assert [used.text_at(uri, one.range) for one in found] == ["slow()", "slow()"]
        [fix_all] = await used.actions(uri, only="source.fixAll")
        await used.make(fix_all)
        fixed = used.texts[uri]
    assert fixed == 'label = "🌱 and 🌱🌱"; fast()\r\n\r\ndef grow():\r\n    return "🌿🌿🌿", fast()  # 🌱\r\n'


async def test_a_change_behind_a_form_feed_lands_where_it_was_made(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", "a = 1\n\x0c\nb = '\u2028'\nc = slow()\n")
        [found] = await used.diagnostics(uri)
        assert used.text_at(uri, found.range) == "slow()"
        used.type(uri, "c = ", "changed = ")
        [found] = await used.diagnostics(uri)
        assert used.text_at(uri, found.range) == "slow()"


async def test_a_byte_order_mark_is_no_character(start: Start, project: Path) -> None:
    file = project / "pkg" / "d.py"
    file.write_bytes(b"\xef\xbb\xbfslow()\n")
    async with start(project) as used:
        uri = used.open(file, "\ufeffslow()\n")
        [found] = await used.diagnostics(uri)
        assert used.text_at(uri, found.range) == "slow()"
        [fix_all] = await used.actions(uri, only="source.fixAll.fullgraph")
        await used.make(fix_all)
        assert used.texts[uri] == "\ufefffast()\n"


async def test_a_crash_in_one_file_is_a_line_in_the_log(start: Start, project: Path) -> None:
    async with start(project) as used:
        broken = used.open(project / "pkg" / "d.py", "boom = slow()\n")
        assert await codes(used, broken) == ["call_fast", "error"]
        assert await codes(used, used.open(project / "pkg" / "c.py")) == ["rename_shared", "call_fast"]
        logged = used.logged
        assert any("pkg/d.py: break_down failed: KeyError: 'boom'" in line for line in logged), logged
        assert not used.messages


async def test_a_syntax_error_ends_with_the_typing(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        used.type(uri, "def one():", "def one(:")
        [found] = await used.diagnostics(uri)
        assert (found.code, found.range.start.line, found.severity) == ("error", 0, DiagnosticSeverity.Information)
        used.type(uri, "def one(:", "def one():")
        assert len(await used.diagnostics(uri)) == 4


async def test_an_ignore_that_silences_nothing_is_faded(start: Start, project: Path) -> None:
    text = "slow()  # fullgraph: ignore[call_fast]\nx = 1  # fullgraph: ignore[call_fast]\n"
    async with start(project) as used:
        [found] = await used.diagnostics(used.open(project / "pkg" / "d.py", text))
    assert found.message == "ignore[call_fast] silences nothing"
    assert found.range.start.line == 1
    assert list(found.tags or ()) == [DiagnosticTag.Unnecessary]


async def test_closing_a_file_takes_its_diagnostics_away(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "pkg" / "a.py")
        assert await used.diagnostics(uri)
        used.close(uri)
        await used.until(lambda: used.seen[uri][1] == [])


async def test_files_that_check_passes_over_are_quiet(start: Start, project: Path) -> None:
    (project / ".gitignore").write_text("made/\n")
    (project / "pyproject.toml").write_text("[tool.fullgraph]\nexclude = ['third_party/']\n")
    paths = ("third_party/a.py", "made/a.py", ".venv/lib/python3/site-packages/x/a.py")
    async with start(project) as used:
        for path in paths:
            (project / path).parent.mkdir(parents=True)
            (project / path).write_text("slow()\n")
            assert await codes(used, used.open(project / path)) == [], path
        assert await codes(used, used.open(project / "pkg" / "new.py", "slow()\n")) == ["call_fast"]


async def test_a_big_file_is_looked_at_too(start: Start, project: Path) -> None:
    text = "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(15_000)) + "slow()\n"
    async with start(project) as used:
        uri = used.open(project / "pkg" / "d.py", text)
        [found] = await used.diagnostics(uri)
        assert found.range.start.line == 60_000
        used.type(uri, "def f14999(", "def changed(")
        assert await codes(used, uri) == ["call_fast"]


async def test_odd_names_are_names_too(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c#d é"
    folder.mkdir()
    (folder / "x y.py").write_text("slow()\n")
    async with start(folder) as used:
        uri = used.open(folder / "x y.py")
        assert uri == uri_of(folder / "x y.py")
        assert await codes(used, uri) == ["call_fast"]
