"""The small function that makes one int of a pair: its text, its name, where it goes, and how to import it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import insert_import, statement_start
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.importing import check_import, import_name
from fullgraph.codemods.topics.pairs.annotations import meaning

MAKES_DICT = {"dict", "collections.defaultdict", "collections.OrderedDict"}
SHIFT = "1 << 32"
ATOMS = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class Form:
    """How a pair becomes one int: by a stride, as the defining module writes it, or by a shift when there is none."""

    stride: str = ""

    def text(self, name: str, indent: str) -> str:
        is_compound = bool(self.stride) and not isinstance(ast.parse(self.stride, mode="eval").body, ATOMS)
        factor = f"({self.stride})" if is_compound else self.stride
        made = f"i * {factor} + j" if self.stride else "(i << 32) | j"
        bound = self.stride or "2**32"
        doc = (
            f'"""One int for the pair (i, j), 0 <= j < {bound}; `divmod(key, {self.stride or SHIFT})` gives it back."""'
        )
        return f"def {name}(i: int, j: int) -> int:\n{indent}{doc}\n{indent}return {made}\n"

    def name(self, dict_name: str) -> str:
        words = re.findall(r"\w+", dict_name.lower())
        return "_".join([*words, "key"]) if self.stride else "pair_key"


def choose_name(project: Project, home: Module, users: list[Module], form: Form, dict_name: str) -> str:
    """A name that means nothing in any of the files, or means this very function already."""
    wanted = form.name(distinct(project, home, dict_name, form.stride)) if form.stride else form.name(dict_name)
    for name in (wanted, f"flat_{wanted}", *(f"{wanted}_{number}" for number in range(2, 50))):
        is_ours = existing(home, name, form) is not None
        others = [module for module in users if module is not home]
        free_here = is_ours or name not in names_within(home.tree)
        if free_here and all(is_free_in(module, name, home if is_ours else None) for module in others):
            return name
    raise Unsure(f"{home.path}:1: every name for the key function is taken")


def distinct(project: Project, home: Module, name: str, stride: str) -> str:
    """The dict's name, made longer where others of that name may get a key function with another stride."""
    scopes = [scope for scope, names in home.scopes.bound.items() if name in names]
    has_attribute = any(node.attr == name for node in home.nodes(ast.Attribute))
    if sum(not isinstance(scope, ast.ClassDef) for scope in scopes) + has_attribute > 1:
        name = f"{name}_{stride}"
    others = (other.scopes.bound.get(other.tree, {}).get(name, []) for other in project.modules_mentioning(name))
    is_global = home.tree in scopes and sum(any(one.how == "assign" for one in found) for found in others) > 1
    return f"{home.name}_{name}" if is_global else name


def is_free_in(module: Module, name: str, home: Module | None) -> bool:
    is_import = home is not None and module.resolve(ast.Name(name)) == f"{home.name}.{name}"
    return is_import or name not in names_within(module.tree)


def existing(home: Module, name: str, form: Form) -> ast.FunctionDef | None:
    """The key function that an earlier run has put here, if it computes the same."""
    wanted = ast.parse(form.text(name, "    ")).body[0]
    assert isinstance(wanted, ast.FunctionDef)
    for node in home.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and not node.decorator_list:
            same = ast.dump(node.args) == ast.dump(wanted.args)
            if same and ast.dump(node.body[-1]) == ast.dump(wanted.body[-1]) and len(node.body) <= 2:
                return node
    return None


def add_function(home: Module, name: str, form: Form) -> tuple[Edit, ...]:
    """The edit that adds the key function, above everything that could need it; the same for every dict of a file."""
    if existing(home, name, form):
        return ()
    statement = first_user(home)
    start = home.line_start(statement_start(home, statement))
    while start and home.text[home.line_start(start - 1) : start].startswith("#"):
        start = home.line_start(start - 1)
    above = home.text[:start].replace("\r\n", "\n").replace("\r", "\n")
    blank = len(above) - len(above.rstrip("\n \t\f")) - 1 if above.strip() else 2
    return (home.insert(start, "\n" * max(0, 2 - blank) + form.text(name, home.indent_unit) + "\n\n"),)


def first_user(home: Module) -> ast.stmt:
    """The first statement behind the imports that defines something or makes a dict."""
    for node in home.tree.body:
        inner = list(ast.walk(node))
        makes = any(
            isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Dict, ast.DictComp)) for n in inner
        )
        calls = any(isinstance(n, ast.Call) and meaning(home, n.func) in MAKES_DICT for n in inner)
        if makes or calls:
            if not home.begins_line(node):
                raise Unsure(f"{home.path}:{node.lineno}: there is no line above this for the key function")
            return node
    raise Unsure(f"{home.path}:1: there is no place for the key function")


def import_function(project: Project, home: Module, user: Module, name: str) -> tuple[str, tuple[Edit, ...]]:
    """How to write a name of one module in another; Unsure if that would make the imports circular."""
    if user is home:
        return name, ()
    if not all(part.isidentifier() for part in home.name.split(".")) or home.path.endswith(".ipynb"):
        raise Unsure(f"{home.path}:1: other files cannot import from here, and {user.path} would have to")
    check_import_name(project, home, user)
    dotted = import_name(user, project, home.path)
    spelling, edits = user.imports.require(dotted, name)
    if "." in spelling and home.path not in project.imported_by(user.path):
        # a parent package is imported, of which the module need not be an attribute
        spelling, edits = name, (insert_import(user, f"from {dotted} import {name}", dotted),)
    if edits:
        check_import(user, project, home.path, f"{name} from {home.path}")
    return spelling, edits


def check_import_name(project: Project, home: Module, user: Module) -> None:
    """Unsure if a file imports the defining module by a name that this project would not give it."""
    for node in user.nodes(ast.Import, ast.ImportFrom):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [user.imports.origin(node)]
        for name in names:
            if name.split(".")[-1] == home.name.split(".")[-1] and project.path_of(name) is None:
                raise Unsure(f"{user.path}:{node.lineno}: {name} may be {home.path}, under another name")
