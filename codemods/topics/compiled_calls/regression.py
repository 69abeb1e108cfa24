"""The regression test that goes with the counters: nothing compiled goes uncounted, and counting breaks no graph."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping

from codemods.model import Edit
from codemods.project import Project
from codemods.topics.compiled_calls.requests import Request
from codemods.topics.regression_tests.file import Check, new_test, regression_test
from codemods.topics.regression_tests.sources import SOURCE_FILES, as_text, sources_of, where

TITLE = "test_everything_compiled_is_counted"
IMPORTS = ("import ast", "from collections.abc import Iterator", "from pathlib import Path")

IS_COUNTER = '''
def is_counter(node: ast.AST) -> bool:
    """Whether it is `counted(...)`, from whatever module."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called.rpartition(".")[2] == "counted"
'''

UNCOUNTED = '''
def uncounted(file: Path) -> Iterator[str]:
    """Find where a file compiles something without a counter around it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        decorators = getattr(node, "decorator_list", [])
        if is_counter(node):
            seen.update(ast.walk(node))
        elif any(map(is_counter, decorators)):
            seen.update(part for it in decorators for part in ast.walk(it))
    compilers = {f"{name}.compile" for name in names_of_torch(tree)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in named:
        if node not in seen and ast.unparse(node) in compilers:
            yield f"{file.relative_to(ROOT).as_posix()}:{node.lineno}"
'''

NAMES_OF_TORCH = '''
def names_of_torch(tree: ast.AST) -> set[str]:
    """What a file calls torch."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    aliases = [alias for node in imports for alias in node.names]
    return {alias.asname or "torch" for alias in aliases if alias.name == "torch"}
'''

BREAKS = '''
def test_counting_breaks_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what is counted is called inside another compiled function."""
    calls = CompiledCalls(on=True)
    monkeypatch.setattr("{home}.compiled_calls", calls)
    double = torch.compile(lambda x: x * 2, backend="eager", fullgraph=True)
    inner = counted("double", double)
    outer = torch.compile(lambda x: inner(x) + 1, backend="eager", fullgraph=True)
    x = torch.ones(3)
    assert torch.equal(inner(x), x * 2)
    assert torch.equal(outer(x), x * 2 + 1)
    assert calls.as_dict()["double"]["grad"]["calls"] == 1


def test_a_counter_that_is_off_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The very object comes back."""
    calls = CompiledCalls(on=False)
    monkeypatch.setattr("{home}.compiled_calls", calls)
    double = torch.compile(lambda x: x * 2, backend="eager")
    assert counted("double", double) is double
'''


def count_test(
    project: Project, folder: str, home: str, uncounted: Iterable[Request], has_counter: bool
) -> tuple[Edit, ...]:
    """The edit that creates the test; none if the folder has it. `uncounted` are the requests that are left alone."""
    if any(path.startswith(f"{folder}/") for path in project.mentions(TITLE)):
        return ()
    checks = [everything_counted(project, folder, Counter(map(file_of, filter(is_seen, uncounted))))]
    if has_counter:
        dotted = project.module_name(home)
        imports = ("import pytest", "import torch", f"from {dotted} import CompiledCalls, counted")
        checks.append(Check(BREAKS.format(home=dotted), imports))
    return new_test(project, folder, "compiled_calls", regression_test("What is compiled is counted.", checks))


def is_seen(request: Request) -> bool:
    """Whether the test sees the request: it looks for `torch.compile` so written, in files that are no notebooks."""
    named = [node for node in ast.walk(request.node) if isinstance(node, ast.Attribute)]
    is_named = any(request.module.resolve(node) == "torch.compile" for node in named)
    return is_named and request.module.path.endswith(".py")


def file_of(request: Request) -> str:
    return request.module.path


def everything_counted(project: Project, folder: str, left: Mapping[str, int]) -> Check:
    """No request is without a counter; of those that cannot have one, as many as there are."""
    body = f'''
def {TITLE}() -> None:
    """A new request to compile needs a counter too."""
    files = list(source_files())
    assert files, "the folders in SOURCES have moved"
    places = [place for file in files for place in uncounted(file)]
'''
    if left:
        lines = "".join(f"        {as_text(path)}: {left[path]},\n" for path in sorted(left))
        body += f"    left_alone = {{\n{lines}    }}\n"
        body += '    by_file = Counter(place.partition(":")[0] for place in places)\n'
    body += f"    assert {'by_file == left_alone, places' if left else 'places == []'}\n"
    places = where(sources_of(project, folder), folder)
    shared = (*places, SOURCE_FILES, IS_COUNTER, NAMES_OF_TORCH, UNCOUNTED)
    return Check(body, (*IMPORTS, *(["from collections import Counter"] if left else [])), shared)
