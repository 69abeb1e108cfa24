"""The check, for the user's tests, that nothing is compiled without its wrapper. It reads the source with `ast`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_requests.requests import Form, Request, requests_of
from fullgraph.codemods.topics.regression_tests.file import Check
from fullgraph.codemods.topics.regression_tests.sources import SOURCE_FILES, TREE_OF, as_text, sources_of, where

IMPORTS = ("import ast", "from collections.abc import Iterator", "from pathlib import Path")

IS_WRAPPER = '''
def is_wrapper(node: ast.AST) -> bool:
    """Whether it is `WRAPPER(...)`, from whatever module."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called.rpartition(".")[2] == "WRAPPER"
'''

COMPILERS_IN = '''
def compilers_in(tree: ast.AST) -> set[str]:
    """What a file calls `torch.compile`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    aliases = [alias for node in imports for alias in node.names]
    names = {alias.asname or "torch" for alias in aliases if alias.name == "torch"}
    return {f"{name}.compile" for name in names}
'''

PARTS_OF = '''
def parts_of(node: ast.AST, compilers: set[str]) -> Iterator[ast.AST]:
    """Walk a node, but not into what is compiled there: that may compile more."""
    yield node
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in compilers:
        inner = [node.func]
    for child in inner:
        yield from parts_of(child, compilers)
'''

UNWRAPPED = '''
def unwrapped(file: Path) -> Iterator[str]:
    """Find where a file compiles something without `WRAPPER` around it."""
    tree = tree_of(file)
    compilers = compilers_in(tree)
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        inside = node.args if isinstance(node, ast.Call) and is_wrapper(node) else []
        decorators = getattr(node, "decorator_list", [])
        if any(map(is_wrapper, decorators)):
            inside = decorators
        seen.update(part for each in inside for part in parts_of(each, compilers))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for name in names:
        if name not in seen and ast.unparse(name) in compilers:
            yield f"{file.relative_to(ROOT).as_posix()}:{name.lineno}"
'''

ALONE = '''
def test_TITLE_also_in_place() -> None:
    """`x.compile()` is followed by `WRAPPER("...", x)`."""
    in_place = IN_PLACE
    for path, name in in_place:
        nodes = list(ast.walk(tree_of(ROOT / path)))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        inside = [ast.unparse(it) for call in calls if is_wrapper(call) for it in call.args]
        is_compiled = any(ast.unparse(call.func) == f"{name}.compile" for call in calls)
        assert name in inside or not is_compiled, f"{path}: {name}"
'''


def everything_wrapped(project: Project, folder: str, wrapper: str, title: str, left: Collection[Request]) -> Check:
    """Nothing is compiled without the wrapper; of what cannot have it, `left` and others, as much as there is."""
    done = [request for request in requests_of(project) if request not in left]
    counts = bare_names(project, folder, {name_in(request.node) for request in done})
    body = f'''
def test_{title}() -> None:
    """A new request to compile needs `{wrapper}` too."""
    files = list(source_files())
    assert files, "the folders in SOURCES have moved"
    places = [place for file in files for place in unwrapped(file)]
'''
    if counts:
        lines = "".join(f"        {as_text(path)}: {counts[path]},\n" for path in sorted(counts))
        body += f"    left_alone = {{\n{lines}    }}\n"
        body += '    by_file = Counter(place.partition(":")[0] for place in places)\n'
    body += f"    assert {'by_file == left_alone, places' if counts else 'places == []'}\n"
    body += in_place(title, done)
    shared = (*where(sources_of(project, folder), folder), SOURCE_FILES, TREE_OF)
    texts = (text.replace("WRAPPER", wrapper) for text in (IS_WRAPPER, COMPILERS_IN, PARTS_OF, UNWRAPPED))
    imports = (*IMPORTS, *(["from collections import Counter"] if counts else []))
    return Check(body.replace("WRAPPER", wrapper), imports, (*shared, *texts))


def in_place(title: str, done: Collection[Request]) -> str:
    """The test of modules that compile themselves, if there are any."""
    found = [(request.module.path, ast.unparse(request.target)) for request in done if request.form is Form.IN_PLACE]
    pairs = "".join(f"        ({as_text(path)}, {as_text(name)}),\n" for path, name in dict.fromkeys(found))
    return "\n" + ALONE.replace("TITLE", title).replace("= IN_PLACE", f"= [\n{pairs}    ]") if pairs else ""


def bare_names(project: Project, folder: str, wrapped: Collection[ast.AST | None]) -> Counter[str]:
    """How often each file names `torch.compile` without the wrapper, as the test sees it: also where none is asked."""
    found: Counter[str] = Counter()
    for path in sorted(project.mentions("compile")):
        if path.endswith(".py") and not path.startswith((f"{folder}/", "tests/", "test/")):
            names = [name for name in compiler_names(project, path) if name not in wrapped]
            found.update([path] * len(names))
    return found


def compiler_names(project: Project, path: str) -> Iterator[ast.Attribute]:
    try:
        module = project.module(path)
    except SourceError:
        return
    compilers = names_of_compile(module)
    for node in module.nodes(ast.Attribute):
        if ast.unparse(node) in compilers:
            yield node


def names_of_compile(module: Module) -> set[str]:
    """`torch.compile`, as `import torch` and `import torch as t` let one write it."""
    aliases = [alias for node in module.nodes(ast.Import) for alias in node.names]
    return {f"{alias.asname or 'torch'}.compile" for alias in aliases if alias.name == "torch"}


def name_in(asked: ast.AST) -> ast.AST | None:
    """The `torch.compile` of a request, also where `partial` holds it."""
    while isinstance(asked, ast.Call):
        is_partial = isinstance(asked.func, (ast.Name, ast.Attribute)) and ast.unparse(asked.func).endswith("partial")
        asked = asked.args[0] if is_partial and asked.args else asked.func
    return asked if isinstance(asked, ast.Attribute) else None
