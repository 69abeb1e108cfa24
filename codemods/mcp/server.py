"""The tools as an agent sees them: names, parameters, what they answer with, and what they may change."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from fullgraph.codemods.mcp.calling import call, limit_of
from fullgraph.codemods.mcp.schemas import SCHEMAS
from fullgraph.codemods.mcp.tools import DESCRIBED, TOOLS, Desk

INSTRUCTIONS = """\
fullgraph finds PyTorch code that torch.compile stumbles over, rewrites it, proves the rewrite, and takes it back.
`prove` judges any change to the code, also one that you wrote yourself: edit, then prove before you call it done.
Order: check, diff, fix (or your own edit), prove; undo if the verdict is different or worse."""


def hints(*, reads: bool = False, destroys: bool = False, repeats: bool = False, runs: bool = False) -> ToolAnnotations:
    """`repeats`: a second call changes nothing more. `runs`: it runs code of the project, which may do anything."""
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=destroys, idempotent_hint=repeats, open_world_hint=runs
    )


HINTS = {
    "check": hints(reads=True, repeats=True),
    "explain": hints(reads=True, repeats=True),
    "diff": hints(reads=True, repeats=True),
    "prove": hints(repeats=True, runs=True),
    "fix": hints(destroys=True, repeats=True, runs=True),
    "undo": hints(destroys=True),
    "observe": hints(destroys=True, runs=True),
}


def make_server(desk: Desk, *, read_only: bool = False) -> MCPServer[Any]:
    """A server for the folders of a desk; with `read_only`, it neither writes nor runs code of the project."""
    names = [name for name in TOOLS if not read_only or HINTS[name].read_only_hint]
    return MCPServer(
        "fullgraph",
        instructions=INSTRUCTIONS,
        version=version("fullgraph"),
        tools=[make_tool(name, desk) for name in names],
        log_level="WARNING",
    )


def make_tool(name: str, desk: Desk) -> Tool:
    tool = Tool.from_function(
        caller(name, desk),
        name=name,
        title=f"fullgraph {name}",
        description=inspect.getdoc(TOOLS[name]),
        annotations=HINTS[name],
        structured_output=False,
    )
    for parameter, described in tool.parameters["properties"].items():
        described["description"] = DESCRIBED[parameter]
    tool.fn_metadata = tool.fn_metadata.model_copy(update={"output_schema": SCHEMAS[name]()})
    return tool


def caller(name: str, desk: Desk) -> Callable[..., Awaitable[CallToolResult]]:
    """The function that the SDK calls: the parameters are the tool's own."""

    async def run(ctx: Context[Any, Any], **arguments: Any) -> CallToolResult:
        async def beat(passed: float, limit: float) -> None:
            await ctx.report_progress(passed, limit, f"{name}: {passed:.0f} s")

        folders = [str(folder) for folder in desk.roots.folders]
        request = {"tool": name, "arguments": arguments, "roots": folders, "python": desk.python}
        return as_result(await call(name, request, limit_of(name, arguments), beat))

    own = list(inspect.signature(TOOLS[name], eval_str=True).parameters.values())[1:]
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context[Any, Any])
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    run.__signature__ = inspect.Signature([*keywords, context], return_annotation=CallToolResult)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*keywords, context)}
    return run


def as_result(answer: dict[str, Any]) -> CallToolResult:
    """The same as text and as structure: hosts show one or the other."""
    text = TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=answer, is_error="error" in answer)
