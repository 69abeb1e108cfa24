"""Modules that hold old names and are imported under a name of their own: `from torch.cuda import amp`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.dropping import drop_names, drop_statement
from fullgraph.codemods.topics.public_api.calls import Draft, write_use
from fullgraph.codemods.topics.public_api.importing import FROM, is_exported, line_that_imports
from fullgraph.codemods.topics.public_api.table import table
from fullgraph.codemods.topics.public_api.uses import Use, check_place, check_use


@dataclass(frozen=True, slots=True)
class ModuleAlias:
    """An import that binds a module with old names, and all that it serves for: nothing but old names."""

    module: Module
    node: ast.Import | ast.ImportFrom
    alias: ast.alias
    dotted: str
    uses: tuple[Use, ...]

    @property
    def new_home(self) -> str:
        """The public module, if all names come from one and it is called the same: `torch.amp`."""
        homes = {use.row.module for use in self.uses}
        home = homes.pop() if len(homes) == 1 else ""
        return home if home.rpartition(".")[2] == self.dotted.rpartition(".")[2] else ""


def module_aliases(module: Module, found: list[Use]) -> Iterator[ModuleAlias]:
    """The imports of modules of which nothing but old names is used."""
    homes = {old.rpartition(".")[0] for old in table()}
    for node in module.nodes(ast.Import, ast.ImportFrom):
        for alias in node.names:
            origin = "" if isinstance(node, ast.Import) else f"{module.imports.origin(node)}."
            dotted, local = f"{origin}{alias.name}", alias.asname or alias.name
            if dotted in homes and "." not in local:
                uses = served(module, node, local, found)
                if uses:
                    yield ModuleAlias(module, node, alias, dotted, tuple(uses))


def served(module: Module, node: ast.AST, local: str, found: list[Use]) -> list[Use]:
    """The uses that the import serves; none if it serves for anything else, or is not the only one."""
    home = module.scopes.around(node)
    names = [name for name in module.scopes.names(home, local) if isinstance(name.ctx, ast.Load)]
    by_root = {use.root: use for use in found}
    if len(module.scopes.within(home, local)) > 1 or any(name not in by_root for name in names):
        return []
    return [by_root[name] for name in names]


def write_alias(alias: ModuleAlias, project: Project) -> tuple[Edit, ...]:
    """The edits that take out the import, or make it one of the public module, and rewrite all uses."""
    module, local = alias.module, alias.alias.asname or alias.alias.name
    check_place(module, alias.node)
    if is_bound_otherwise(module, local) or is_exported(module, local):
        raise Unsure(f"{module.path}:{alias.node.lineno}: {local} is used by others, or means something else too")
    for path in project.mentions(local):
        if path != module.path and (line := line_that_imports(project, path, module.name, local)):
            raise Unsure(f"{path}:{line}: imports {local} from here")
    draft = Draft(module)
    for use in alias.uses:
        check_use(use)
        write_use(draft, use, project, keep_name=bool(alias.new_home))
    if not alias.new_home:
        return (*draft.edits(), *drop(alias))
    return (*draft.edits(), rename(alias))


def drop(alias: ModuleAlias) -> tuple[Edit, ...]:
    if len(alias.node.names) > 1:
        return drop_names(alias.module, alias.node, [alias.alias])
    return (drop_statement(alias.module, alias.node),)


def rename(alias: ModuleAlias) -> Edit:
    """The import of the public module under the same name."""
    module, start = alias.module, alias.module.span(alias.alias).start
    if isinstance(alias.node, ast.Import):
        return module.replace(Span(start, start + len(alias.dotted)), alias.new_home)
    found = FROM.match(module.text, module.span(alias.node).start)
    if found is None or len(alias.node.names) > 1:
        raise Unsure(f"{module.path}:{alias.node.lineno}: the import holds other names too")
    return module.replace(Span(found.start(1), found.end(1)), alias.new_home.rpartition(".")[0])
