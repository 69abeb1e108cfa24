"""Find PyTorch code that `torch.compile` stumbles over, rewrite it, prove that, take it back. Never imports torch.

What scripts and authors of codemods need is here. A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullgraph.codemods.api import Fixed, check, fix, observe, prove, undo
    from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
    from fullgraph.codemods.model import Edit, Finding, FullgraphError, Safety, Span
    from fullgraph.codemods.module import Module
    from fullgraph.codemods.project import Project
    from fullgraph.validate.model import Ruling, ValidateError, Verdict
    from fullgraph.validate.observe import Observed

HOMES = {
    "codemods.api": ("Fixed", "check", "fix", "observe", "prove", "undo"),
    "codemods.codemod": ("Codemod", "Options", "Unsure", "option"),
    "codemods.model": ("Edit", "Finding", "FullgraphError", "Safety", "Span"),
    "codemods.module": ("Module",),
    "codemods.project": ("Project",),
    "validate.model": ("Ruling", "ValidateError", "Verdict"),
    "validate.observe": ("Observed",),
}

__all__ = [
    "Codemod",
    "Edit",
    "Finding",
    "Fixed",
    "FullgraphError",
    "Module",
    "Observed",
    "Options",
    "Project",
    "Ruling",
    "Safety",
    "Span",
    "Unsure",
    "ValidateError",
    "Verdict",
    "check",
    "fix",
    "observe",
    "option",
    "prove",
    "undo",
]


def __getattr__(name: str) -> object:
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"fullgraph.{home}"), name)
    raise AttributeError(f"module 'fullgraph' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
