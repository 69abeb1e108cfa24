"""The regression test that goes with a boundary: it is used everywhere, marks every step, and copies."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Edit, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.topics.boundaries.forms import Form
from fullgraph.codemods.topics.boundaries.helper import Helper
from fullgraph.codemods.topics.boundaries.one_graph import one_graph
from fullgraph.codemods.topics.boundaries.uses import Uses
from fullgraph.codemods.topics.regression_tests.file import Check, identifier, indented, new_test, regression_test
from fullgraph.codemods.topics.regression_tests.sources import no_direct_call, sources_of
from fullgraph.codemods.topics.regression_tests.steps import REUSES_ITS_BUFFER, marks_each_step

KEEPS = '''
def test_{title}_keeps_earlier_outputs({given}) -> None:
    """An output of one step is not overwritten by the next."""
{setup}    first = {call}{part}
    value = first.tolist()
    second = {call}{part}
    assert first.data_ptr() != second.data_ptr()
    assert first.tolist() == value
'''


def write_test(project: Project, folder: str, helper: Helper, uses: Uses) -> tuple[Edit, ...]:
    """The edit that creates the test. Nothing for a local boundary: no test can reach it."""
    compiled, name = helper.compiled, helper.boundary.name
    if compiled.kind == "local" or not compiled.module.name:
        return ()
    checks = [*direct_calls(project, folder, helper, uses), *steps(helper), *one_graph(project, compiled)]
    if not checks:
        return ()
    text = regression_test(f"`{compiled.name}` runs through `{name}`, which marks the step and copies.", checks)
    return new_test(project, folder, name, text)


def direct_calls(project: Project, folder: str, helper: Helper, uses: Uses) -> list[Check]:
    """No direct call is left, in all files or in those where the name means nothing else."""
    compiled = helper.compiled
    is_attribute = compiled.kind in ("attribute", "method")
    own = {call.node for call in (*uses.calls, *uses.inlined)}
    strangers = {module.path for module, call in named_calls(project, compiled.name) if call not in own}
    if compiled.module.path in strangers:
        return []
    users = sorted({compiled.module.path, *(call.module.path for call in uses.calls)} - strangers)
    sources = users if strangers else sources_of(project, folder)
    traced = [call.module.symbol(function) for call in uses.inlined if (function := around(call))]
    owner = compiled.owner.name + "." if isinstance(compiled.owner, ast.ClassDef) else ""
    last = compiled.module.name.rpartition(".")[2]
    callees = [f".{compiled.name}"] if is_attribute else [compiled.name, f"{last}.{compiled.name}"]
    return [no_direct_call(compiled.name, callees, [owner + helper.boundary.name, *traced], sources, folder)]


def named_calls(project: Project, name: str) -> list[tuple[Module, ast.Call]]:
    found = []
    for path in project.mentions(name):
        try:
            module = project.module(path)
        except SourceError:
            continue
        found += [(module, call) for call in module.unordered(ast.Call) if last_name(call) == name]
    return found


def around(call: Place[ast.Call]) -> ast.AST | None:
    function: ast.AST | None = call.module.enclosing(call.node, *FUNCTIONS)
    return function


def steps(helper: Helper) -> list[Check]:
    """Repeated calls mark the step each time, and leave earlier outputs alone; run on a stand-in for the callable."""
    made, part, imports = sample(helper.form)
    if "buffer()" not in made:
        return []
    setup = ["buffer = ReusesItsBuffer((2,))"]
    callee = "buffer"
    if made != "buffer()":
        setup += ["", "def run(*args: object, **kwargs: object) -> object:", f"    return {made}", ""]
        callee = "run"
    compiled, module = helper.compiled, helper.module
    if isinstance(compiled.owner, ast.ClassDef):
        setup.append(f"owner = SimpleNamespace({compiled.name}={callee})")
        first, spelled = ["owner"], f"{compiled.owner.name}.{helper.boundary.name}"
        imports = (*imports, f"from {module.name} import {compiled.owner.name}", "from types import SimpleNamespace")
    else:
        package, _, last = module.name.rpartition(".")
        imports = (*imports, f"from {package} import {last}" if package else f"import {last}")
        setup.append(f'monkeypatch.setattr({last}, "{compiled.name}", {callee})')
        first, spelled = [], f"{last}.{helper.boundary.name}"
    given = needed(helper.signature.parameters)
    setup += ["x = torch.zeros(2)"] if given else []
    call = f"{spelled}({', '.join([*first, *given])})"
    title = identifier(helper.boundary.name)
    patches = "" if isinstance(compiled.owner, ast.ClassDef) else "monkeypatch: pytest.MonkeyPatch"
    keeps = KEEPS.format(title=title, given=patches, setup=indented(setup), call=call, part=part)
    needs = ("import pytest", "import torch", *imports)
    return [
        marks_each_step(helper.boundary.name, setup, call, imports),
        Check(keeps, needs, (REUSES_ITS_BUFFER,)),
    ]


def needed(parameters: tuple[str, ...]) -> list[str]:
    """An argument for each parameter that has no default."""
    given: list[str] = []
    by_name = False
    for parameter in parameters:
        by_name = by_name or parameter.startswith("*")
        if parameter.startswith("*") or parameter == "/" or "=" in parameter:
            continue
        name = parameter.partition(":")[0]
        given.append(f"{name}=x" if by_name else "x")
    return given


def sample(form: Form) -> tuple[str, str, tuple[str, ...]]:
    """An expression of the form, how to get at its first tensor, and the imports that it needs."""
    if form.what in ("tensor", "unknown") or not form.is_known:
        return "buffer()", "", ()
    if form.what == "plain":
        return "None", "", ()
    parts = [sample(part) for part in form.parts]
    number = next((at for at, (text, _, _) in enumerate(parts) if "buffer()" in text), 0)
    imports = tuple(line for _, _, lines in parts for line in lines)
    texts, inner = [text for text, _, _ in parts], parts[number][1]
    if form.what == "dict":
        return f'{{"name": {texts[0]}}}', f'["name"]{inner}', imports
    if form.what == "tuple":
        whole = ", ".join(texts) + ("," if len(texts) == 1 else "")
        return f"({whole})", f"[{number}]{inner}", imports
    module, name = form.kind
    fields = ", ".join(f"{field}={text}" for field, text in zip(form.names, texts, strict=True))
    return f"{name}({fields})", f".{form.names[number]}{inner}", (*imports, f"from {module} import {name}")
