"""What the calls of a compiled callable are counted under: the name it is kept by, unique in the project."""

from __future__ import annotations

from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_requests.naming import base_name, choose_names, scope_of, text_given_to
from fullgraph.codemods.topics.compile_requests.requests import Request, requests_of
from fullgraph.codemods.topics.compile_requests.wrappers import COUNTED, wrapper_of


def names_of(project: Project) -> dict[Request, str]:
    """A name for every request."""
    return project.worked_out(names_of, lambda: choose_names(requests_of(project), candidates, written_name))


def candidates(request: Request) -> list[str]:
    """Names from short to long: `scorer`, `controller.scorer`, `Controller.scorer`, `controller.Controller.scorer`."""
    short, scope, dotted = base_name(request), scope_of(request), request.module.name
    longer = [f"{dotted.rpartition('.')[2]}.{short}", f"{scope}.{short}", f"{dotted}.{scope}.{short}"]
    return list(dict.fromkeys([short, *(name.replace("<module>.", "") for name in longer)]))


def written_name(request: Request) -> str:
    """The name under which it is counted already."""
    return text_given_to(wrapper_of(request, COUNTED))
