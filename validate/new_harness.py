"""A harness for compiled code: a script that compares it with eager mode in every way it is used, and its tests."""

from __future__ import annotations

from typing import Any

from fullgraph.validate.drafting.library import Library
from fullgraph.validate.drafting.parameters import snake
from fullgraph.validate.drafting.seen import Seen
from fullgraph.validate.drafting.subject import find_subject
from fullgraph.validate.harness.compose import Place, Request, compose, compose_test
from fullgraph.validate.harness.config import Config
from fullgraph.validate.harness.draft import HarnessDraft


def new_harness(
    target: str,
    library: Library,
    place: Place,
    *,
    config: Config | None = None,
    request: Request | None = None,
    captured: dict[str, Any] | None = None,
    device: str = "cpu",
) -> tuple[str, str]:
    """The texts of the script and of the test file. They need torch and pytest, and nothing of ours.

    `request` says how the project compiles the target. Raises ValidateError for a target that cannot be called alone.
    """
    draft = HarnessDraft(find_subject(target, library), library, Seen(captured), config)
    script = compose(draft, request or Request(), place, device)
    return script, compose_test(draft, place)


def harness_name(target: str) -> str:
    """`harness_demand_net` for `sluice.nets:DemandNet`."""
    return "harness_" + "_".join(snake(part) for part in target.partition(":")[2].split("."))
