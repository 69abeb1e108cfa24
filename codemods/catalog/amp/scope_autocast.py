"""Let the model itself run under autocast, not every call of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.autocast.extents import ModelCall, autocast_around, backward_behind, extended, model_call
from fullgraph.codemods.topics.autocast.forwards import (
    check_function,
    check_known,
    decorator,
    shared_by,
    spelled,
    unwrapped,
)
from fullgraph.codemods.topics.autocast.instances import Instances, Use, describe
from fullgraph.codemods.topics.autocast.regions import Region, regions

ELSEWHERE = re.compile(rb"\b(?:DataParallel|jit\.script|jit\.trace|register_(?:module_)?forward_(?:pre_)?hook)\b")
NOT_RECOMMENDED = (
    "PyTorch's documentation of torch.amp.autocast advises against backward passes under autocast, and everything "
    "between the region and the backward pass runs under autocast then too: the dtype of the loss may change"
)


@dataclass(frozen=True)
class ScopeOptions(Options):
    """How far autocast reaches."""

    form: Literal["forward", "backward"] = option(
        "forward",
        "forward: autocast as a decorator of the model's forward; backward: the region extended to the loss and the "
        "backward pass, which PyTorch's documentation advises against.",
    )


class ScopeAutocast(Codemod):
    """Put autocast on the model's `forward`, not around a call of the model.

    `with torch.autocast("cuda", dtype=torch.float16): output = model(x)` becomes a plain call, and the model's
    `forward` gets `@torch.autocast("cuda", dtype=torch.float16)`: one place instead of every caller. Only where
    nothing changes by it: the call is all that the `with` holds, every other call of such a model in the project is
    seen and runs under the same autocast, and everything that autocast is given is known when the class is defined.

    `form=backward`, never by default, extends the region over the loss to `backward()`. Reviews ask for it, to get
    other kernels in the backward pass. PyTorch's documentation of `torch.amp.autocast`
    (https://docs.pytorch.org/docs/stable/amp.html) says the opposite: autocast should cover the forward pass and the
    loss; to run the backward pass under it is not recommended, because backward operations run in the dtype that
    autocast chose for the forward operations anyway.

    Measured on torch 2.13, a CPU: outputs, dtypes and gradients are bit-equal before and after `form=forward`, in
    eager mode and compiled, and no number gets better: it is a matter of taste. One object is shared by all calls of
    a decorated function: a model whose `forward` runs another object of the same class leaves autocast switched on
    for the rest of the program, so a class that may hold objects of its own kind gets a caveat. Threads share the
    object too.

    Left alone:
    - a region that holds more than the call, or in which arguments are computed
    - a condition: `enabled=use_amp`, or a choice against nullcontext()
    - a model that is called elsewhere without the same autocast
    - a model that gets out of sight: kept in a container, or given to code outside the project
    - a model whose subclasses have a `forward` of their own, or whose `forward` is decorated already
    - a model with a `__call__` of its own, and an output that is stored in an attribute or an item
    - a project with DataParallel, TorchScript or forward hooks of the model
    - with `form=backward`: a region that holds the backward pass already
    """

    options: ScopeOptions

    needles: ClassVar[tuple[bytes, ...]] = (b"autocast",)
    pattern: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"autocast\s*\(")
    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "autocast around the forward pass alone is too narrow for the best kernels."
    why: ClassVar[str] = (
        "One decorator says what every caller had to say. Results and dtypes stay bit-equal, and nothing gets faster "
        "(torch 2.13); the backward pass runs in the forward's dtypes either way."
    )

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for region in regions(module):
            finding = self.extend(region) if self.options.form == "backward" else self.decorate(project, region)
            if finding:
                yield finding

    def decorate(self, project: Project, region: Region) -> Finding | None:
        found = model_call(project, region)
        if found is None:
            return None
        message = f"autocast is entered around a call of {found.owner.node.name}, not by its forward"
        try:
            shared = shared_by(project, found.owner)
            caveat = check(project, found)
            edits = put_on_model(found)
        except Unsure as unsure:
            return region.module.finding(self.name, found.call, message, left_alone=str(unsure))
        caveat = f"{shared}, and the two would share one context, which stays on then" if shared else caveat
        return region.module.finding(self.name, found.call, message, edits=edits, caveat=caveat)

    def extend(self, region: Region) -> Finding | None:
        found = backward_behind(region)
        if found is None or is_off(region):
            return None
        message = "autocast ends before the backward pass"
        try:
            edits = (extended(region.module, *found),)
        except Unsure as unsure:
            return region.module.finding(self.name, region.made, message, left_alone=str(unsure))
        return region.module.finding(self.name, region.made, message, edits=edits, caveat=NOT_RECOMMENDED)


def put_on_model(found: ModelCall) -> tuple[Edit, ...]:
    """The decorator in the model's file, and the call without its `with`."""
    target, forward = found.forward
    text, needed = spelled(found.region.module, found.region.made, target)
    return (decorator(target, text, forward), *needed, unwrapped(found.region.module, found.entered))


def check(project: Project, found: ModelCall) -> str:
    """Raise for whatever the decorator would change; what is left to doubt is returned."""
    module, region, name = found.region.module, found.region, found.owner.node.name
    instances = Instances(project, found.owner)
    uses = list(instances.uses())
    if uncovered := next((use for use in uses if use.call and not is_covered(use, found)), None):
        raise Unsure(f"{uncovered.place}: {name} is called here without this autocast")
    if is_conditional(region):
        raise Unsure(f"{where(module, region.chosen)}: whether to autocast is decided when the model is called")
    if region.name:
        raise Unsure(f"{where(module, region.statement)}: `{region.name}` holds the context")
    check_known(project, module, region.made)
    check_function(found.forward.module, found.forward.node)
    check_stored(found)
    check_called(project, found)
    check_kin(project, found)
    for path, match in project.matches(ELSEWHERE):
        line = match.string.count(b"\n", 0, match.start()) + 1
        raise Unsure(f"{path}:{line}: `{match[0].decode()}` may reach the model past its callers")
    if unseen := next((use for use in uses if use.call is None), None):
        raise Unsure(describe(unseen))
    return "" if instances.is_made else f"no {name} is made in this project; whoever makes one may call it otherwise"


def is_conditional(region: Region) -> bool:
    decision = region.decision
    return decision is not None and not (isinstance(decision, ast.Constant) and decision.value is True)


def is_off(region: Region) -> bool:
    return isinstance(region.decision, ast.Constant) and not region.decision.value


def is_covered(use: Use, found: ModelCall) -> bool:
    """Whether a call runs under an autocast that is made in the same way."""
    entered = autocast_around(use.place.module, use.place.node)
    if use.call is found.call:
        return True
    if entered is None or not isinstance(entered, ast.Call):
        return False
    home = found.region.module
    return spelled(use.place.module, entered, home)[0] == spelled(home, found.region.made, home)[0]


def check_stored(found: ModelCall) -> None:
    """Raise if the output is stored in an object, whose code for that would run outside the region."""
    module = found.region.module
    for node in ast.walk(found.entered.body[0]):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            raise Unsure(f"{where(module, node)}: storing in `{ast.unparse(node)}` may compute, under autocast so far")


def check_called(project: Project, found: ModelCall) -> None:
    """Raise if the class does more than `forward` when it is called."""
    for other, kind in Definitions(project).lineage(found.owner):
        for node in kind.body:
            names = {getattr(node, "name", ""), *(getattr(item, "id", "") for item in getattr(node, "targets", ()))}
            if "__call__" in names:
                raise Unsure(f"{where(other, node)}: {kind.name} has a __call__ of its own, which autocast covers too")


def check_kin(project: Project, found: ModelCall) -> None:
    """Raise if `forward` is inherited, or a subclass has another one."""
    owner = found.owner
    if found.forward.node not in owner.node.body:
        raise Unsure(f"{found.forward}: {owner.node.name} inherits its forward")
    for other, heir in heirs(project, owner.node):
        raise Unsure(f"{where(other, heir)}: {heir.name} inherits {owner.node.name}")
