"""Find and rewrite PyTorch code that `torch.compile` stumbles over. Never imports torch.

What the author of a codemod needs is here; the rest has its own rooms (docs/architecture.md).
"""

from codemods.codemod import Codemod, Options, Unsure, option
from codemods.model import Edit, Finding, FullgraphError, Safety, Span
from codemods.module import Module
from codemods.project import Project

__all__ = [
    "Codemod",
    "Edit",
    "Finding",
    "FullgraphError",
    "Module",
    "Options",
    "Project",
    "Safety",
    "Span",
    "Unsure",
    "option",
]
