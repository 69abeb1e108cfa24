"""What the shell completes beyond the names of commands and options."""

from __future__ import annotations

from dataclasses import fields

from click.shell_completion import CompletionItem

from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.ui.explain import summary_of


def codemod_names(incomplete: str) -> list[CompletionItem]:
    """The codemods; behind a comma, one more."""
    before, comma, begun = incomplete.rpartition(",")
    kinds = {name: kind for name, kind in all_codemods().items() if name.startswith(begun)}
    return [CompletionItem(before + comma + name, help=summary_of(kind)) for name, kind in kinds.items()]


def option_names(incomplete: str) -> list[CompletionItem]:
    """`NAME.KEY=` for every setting of every codemod."""
    settings = [
        (kind.name, item) for kind in all_codemods().values() for item in fields(kind.options_type()) if item.metadata
    ]
    items = [CompletionItem(f"{name}.{item.name}=", help=item.metadata.get("doc")) for name, item in settings]
    return [item for item in items if item.value.startswith(incomplete)]
