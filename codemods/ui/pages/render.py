"""One page of a template: a single file that opens offline. Whatever a template is given is text, never markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.ui.plain import plain

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
STYLE = FOLDER / "style.css"


def render(template: str, **values: Any) -> str:
    """The whole page. It asks for nothing from anywhere else, and says so to the browser."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def shown(value: object) -> object:
    """Control characters are spelt out, before autoescape makes text of the rest. None is nothing."""
    if hasattr(value, "__html__"):
        return value
    return "" if value is None else plain(str(value), keep="\n\t")
