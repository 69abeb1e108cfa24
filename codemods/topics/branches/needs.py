"""What the new code needs of its file and of its project: torch under some name, and new enough."""

from __future__ import annotations

import ast

from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, Unsure
from fullgraph.codemods.topics.branches.reading import Reader

MAYBE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.comprehension)


def require_torch(reader: Reader, branch: ast.If | ast.IfExp) -> tuple[str, tuple[Edit, ...]]:
    """How torch is called here, with the edits that import it; none where the function has used the name already.

    A file may import torch under a condition only: to import it at the top would ask for it where it is not there.
    """
    if is_bound_otherwise(reader.module, "torch"):
        raise Unsure("the name torch is used for something else in this file")
    earlier = (item for item in reader.function.body if item.lineno < branch.lineno and isinstance(item, ast.Assign))
    surely = [item.value for item in earlier if not any(isinstance(node, MAYBE) for node in ast.walk(item))]
    names = (node for value in surely for node in ast.walk(value) if isinstance(node, ast.Name))
    used = next((node.id for node in names if reader.module.resolve(node) == "torch"), "")
    torch, imports = reader.module.imports.require("torch")
    return (used, ()) if used and imports else (torch, imports)
