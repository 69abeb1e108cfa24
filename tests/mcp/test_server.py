"""The tools by the SDK's own client, which holds every answer against the schema that the server publishes."""

from __future__ import annotations

from pathlib import Path

import jsonschema

from tests.mcp.conftest import MANY, ask, by_stdio, client
from tests.test_api import BEFORE

TOOLS = ["check", "explain", "diff", "prove", "fix", "undo", "observe"]


async def test_tools_have_hints_descriptions_and_schemas(root: Path) -> None:
    async with client(root) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert list(tools) == TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert all(one["description"] for one in tool.input_schema["properties"].values())
        assert "ctx" not in tool.input_schema["properties"]
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert [name for name, one in hints.items() if one and one.read_only_hint] == ["check", "explain", "diff"]
    assert [name for name, one in hints.items() if one and one.destructive_hint] == ["fix", "undo", "observe"]
    assert [name for name, one in hints.items() if one and not one.idempotent_hint] == ["undo", "observe"]


async def test_a_finding_is_found_shown_written_and_taken_back(root: Path) -> None:
    async with client(root) as agent:
        found = await ask(agent, "check")
        (finding,) = found["findings"]
        assert (finding["codemod"], finding["path"], finding["line"]) == ("batch_host_reads", "spread.py", 5)
        shown = await ask(agent, "diff", keys=[finding["key"]])
        assert shown["keys"] == [finding["key"]]
        assert "+    values_min, values_max = " in shown["patch"]
        assert (root / "spread.py").read_text() == BEFORE
        fixed = await ask(agent, "fix", keys=[finding["key"]])
        assert [(one["outcome"], one["key"]) for one in fixed["findings"]] == [("fixed", finding["key"])]
        assert "tolist()" in (root / "spread.py").read_text()
        back = await ask(agent, "undo")
        assert (back["undoes"], back["conflicts"]) == (["1"], [])
    assert (root / "spread.py").read_text() == BEFORE


async def test_a_change_that_somebody_else_wrote_is_judged(root: Path) -> None:
    from tests.recipes.conftest import git

    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    (root / "spread.py").write_text(BEFORE.replace("values.max()", "(values.max() + 1)"))
    async with client(root) as agent:
        judged = await ask(agent, "prove", scenarios=["scenario.py"], device="cpu", untimed=True)
        assert (judged["ruling"], judged["exit_code"]) == ("different", 3)
        assert "+    return values.min().item(), (values.max() + 1).item()" in judged["verdicts"][0]["diff"]
        (root / "spread.py").write_text(BEFORE.replace("values.min().item(), values.max().item()", READ_ONCE))
        judged = await ask(agent, "prove", scenarios=["scenario.py"], device="cpu", untimed=True)
        assert judged["ruling"] == "proven", judged["verdicts"][0]["sentence"]


READ_ONCE = "*torch.stack([values.min(), values.max()]).tolist(),"


async def test_only_what_is_proven_is_written(root: Path) -> None:
    async with client(root) as agent:
        fixed = await ask(agent, "fix", prove=["scenario.py"], untimed=True)
    assert [proof["ruling"] for proof in fixed["proofs"]] == ["proven"]
    assert fixed["runs"][0]["run"] == 1


async def test_a_program_is_observed_and_its_last_words_are_told(root: Path) -> None:
    (root / "main.py").write_text("import torch\nprint('read', torch.ones(2).sum().item())\n")
    async with client(root) as agent:
        seen = await ask(agent, "observe", command=["python", "main.py"])
        assert (seen["exit_code"], seen["output"], seen["reads"][0]["line"]) == (0, "read 2.0\n", 2)
        ranked = await ask(agent, "check", observed=True)
    assert ranked["total"] == 1


async def test_codemods_are_listed_and_explained(root: Path) -> None:
    async with client(root) as agent:
        names = [one["name"] for one in (await ask(agent, "explain"))["codemods"]]
        explained = await ask(agent, "explain", name="batch_host_reads")
    assert explained["name"] in names
    assert "Left alone:" in explained["doc"]


async def test_a_long_list_comes_in_pages_that_fit_together(many: Path) -> None:
    async with client(many) as agent:
        pages = [await ask(agent, "check", paths=["spread.py"])]
        while pages[-1]["next_offset"] is not None:
            pages.append(await ask(agent, "check", offset=pages[-1]["next_offset"]))
        assert {page["total"] for page in pages} == {MANY}
        assert [len(page["findings"]) for page in pages] == [20, 20, 5]
        keys = [one["key"] for page in pages for one in page["findings"]]
        assert len(set(keys)) == MANY
        assert len((await ask(agent, "check", limit=500))["findings"]) <= 50


async def test_a_long_patch_comes_in_parts_that_are_the_patch(many: Path) -> None:
    async with client(many) as agent:
        part = await ask(agent, "diff")
        text = part["patch"]
        while part["next_offset"] is not None:
            part = await ask(agent, "diff", offset=part["next_offset"])
            text += part["patch"]
    assert (len(text), len(part["keys"])) == (part["total"], MANY)
    assert text.count("\n+    values_min, values_max") == MANY


async def test_errors_say_what_to_do(root: Path) -> None:
    async with client(root) as agent:
        for tool, arguments, fix in (
            ("check", {"select": ["batch_host_read"]}, "did you mean 'batch_host_reads'?"),
            ("diff", {"keys": ["nothing"]}, "`check` gives the keys of today"),
            ("undo", {}, "`fullgraph log` lists the runs that were written"),
            ("prove", {"scenarios": ["scenario.py"]}, "run it inside a git work tree, or leave out what needs git"),
            ("explain", {"name": "nobody"}, "`fullgraph list` names every codemod"),
        ):
            held = await ask(agent, tool, **arguments)
            told = held if "error" in held else {"fix": held["errors"][0]["reason"]}
            assert fix in told["fix"], held


async def test_a_server_that_only_reads_has_no_other_tools(root: Path) -> None:
    async with client(root, read_only=True) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == ["check", "explain", "diff"]
        assert (await ask(agent, "check"))["total"] == 1


async def test_the_command_serves_on_standard_input_and_output(root: Path) -> None:
    async with by_stdio(root) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == TOOLS
        (finding,) = (await ask(agent, "check"))["findings"]
        fixed = await ask(agent, "fix", keys=[finding["key"]], prove=["scenario.py"], untimed=True)
        assert fixed["proofs"][0]["ruling"] == "proven"
        assert (await ask(agent, "undo"))["paths"] == ["spread.py"]
    async with by_stdio(root, "--read-only") as agent:
        assert len((await agent.list_tools()).tools) == 3
