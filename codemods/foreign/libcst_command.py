"""LibCST's codemods: a module's tree in, another tree out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from fullgraph.codemods.foreign.adapter import ForeignCodemod, Rewrite, first_line
from fullgraph.codemods.foreign.arguments import read_arguments
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project

if TYPE_CHECKING:
    import libcst
    from libcst.codemod import CodemodContext

UNDESCRIBED = "No description."
"""What LibCST says of a command whose author said nothing."""


class LibcstCodemod(ForeignCodemod):
    """A LibCST codemod. Its warnings are the finding's notes."""

    tool = "LibCST"
    command: ClassVar[Any]

    def __init__(self, options: Mapping[str, str] | None = None, symbols: tuple[str, ...] = ()) -> None:
        super().__init__(None, symbols)
        self.arguments = read_arguments(self.name, self.command, options or {})

    def rewrite(self, module: Module, project: Project) -> Rewrite | None:
        from libcst.codemod import SkipFile

        tree = parse(module)
        context = self.context(module, project)
        try:
            after = self.command(context, **self.arguments).transform_module(tree).code
        except SkipFile as skip:
            raise SourceError(module.path, f"{self.name} skips it: {first_line(str(skip))}") from skip
        if after == module.source.parsed:
            return None
        return Rewrite(tree.code, after, tuple(context.warnings))

    def context(self, module: Module, project: Project) -> CodemodContext:
        from libcst.codemod import CodemodContext
        from libcst.metadata import FullRepoManager

        root = project.root.absolute()
        file = root / module.path
        package = module.name if file.stem == "__init__" else module.name.rpartition(".")[0]
        return CodemodContext(
            filename=str(file),
            full_module_name=module.name,
            full_package_name=package,
            metadata_manager=FullRepoManager(root, [str(file)], self.command.get_inherited_dependencies()),
        )


def parse(module: Module) -> libcst.Module:
    import libcst

    try:
        return libcst.parse_module(module.source.parsed)
    except libcst.ParserSyntaxError as error:
        reason = f"LibCST cannot parse line {error.raw_line}: {first_line(error.message)}"
        raise SourceError(module.path, reason) from error


def libcst_codemods(module: ModuleType, origin: Path) -> list[type[ForeignCodemod]]:
    """The LibCST commands that a file defines; where there is none, its other LibCST codemods."""
    from libcst.codemod import Codemod, CodemodCommand

    own = [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Codemod)
        and value.__module__ == module.__name__
        and not inspect.isabstract(value)
        and not name.startswith("_")
    ]
    commands = [value for value in own if issubclass(value, CodemodCommand)]
    return [adapt(value, module, origin) for value in commands or own]


def adapt(command: type[Any], module: ModuleType, origin: Path) -> type[LibcstCodemod]:
    described = getattr(command, "DESCRIPTION", "").replace(UNDESCRIBED, "")
    doc = command.__dict__.get("__doc__")
    held = {
        "command": command,
        "origin": origin,
        "description": first_line(described, doc, module.__doc__, f"rewritten by {command.__name__}"),
        "__doc__": inspect.cleandoc(doc or described or module.__doc__ or ""),
        "__module__": module.__name__,
    }
    return type(command.__name__, (LibcstCodemod,), held)
