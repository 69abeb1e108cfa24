"""Write torch's public names where a private or deprecated one is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Edit, Finding, Purpose, Since
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.public_api.aliased import ModuleAlias, module_aliases, write_alias
from fullgraph.codemods.topics.public_api.calls import Draft, write_use
from fullgraph.codemods.topics.public_api.importing import Imported, check_import, imported_names, uses_of, write_import
from fullgraph.codemods.topics.public_api.replaced import check_instances, doubt_about_tests, replaced_by_name
from fullgraph.codemods.topics.public_api.screen import may_use_old_names, old_names_in
from fullgraph.codemods.topics.public_api.table import Row, table
from fullgraph.codemods.topics.public_api.uses import Use, check_use, choice_of_version, uses


class UsePublicCompilerApi(Codemod):
    """Write torch's public names for private and deprecated ones of torch.compile, AMP and tracing.

    The names stand in a table (`codemods/topics/public_api/names.toml`): old name, new name, since which torch, how the
    arguments change. `torch._dynamo.disable`, `reset`, `allow_in_graph`, `assume_constant_result`, `list_backends`,
    `set_stance`, `is_compiling` (and `torch._utils.is_compiling`) and `torch._inductor.cudagraph_mark_step_begin` have
    the same names in `torch.compiler`; `torch._dynamo.optimize("inductor", nopython=True)(f)` becomes `torch.compile(f,
    backend="inductor", fullgraph=True)`; `torch.cuda.amp.autocast(flag)` becomes `torch.amp.autocast("cuda",
    enabled=flag)`, and so for `GradScaler`, `custom_fwd`, `custom_bwd` and `torch.cpu.amp`; `torch._C._is_tracing()`
    becomes `torch.jit.is_tracing()`, and `torch._jit_internal.is_scripting` `torch.jit.is_scripting`.

    Calls, decorators, annotations and imports are found under whatever name; an imported name changes together with all
    of its uses. `torch.cuda.amp.autocast()` always meant float16, `torch.amp.autocast("cuda")` takes the dtype of an
    autocast around it: where the project may have one of another dtype, `dtype=torch.float16` is written out.

    Measured on torch 2.13: values and graph breaks stay, but for `torch._C._is_tracing()`, which breaks the graph and
    fails under `fullgraph=True`; `torch.jit.is_tracing()` does neither. The FutureWarning of the deprecated AMP names,
    and the warning of `torch._utils.is_compiling`, are gone.

    Unsafe where a test replaces the old name (`mock.patch("torch.cuda.amp.autocast")`): it no longer has an effect.

    Left alone:
    - names that are newer than the oldest torch that the project declares
    - code that chooses between versions of torch: a `try` for a missing name, `hasattr`, a question about the version;
      reported only where the codemod is named (`--select`, a ticket)
    - names that are imported for others to import
    - a class that is not called: subclassed, passed on, asked for by `isinstance` or `type` (then its calls stay too)
    - `torch._dynamo.optimize` as a context manager, kept in a variable, or with hooks
    - arguments that cannot be seen (`*args`, `**kwargs`), or that the public name does not have
    - code that TorchScript compiles
    - names that the file sets, or gives another meaning too
    - files that import torch only inside functions, where the new name would need it at the top
    - imports whose comments would be lost
    - what a test replaces by its name in a string: reported
    """

    claim: ClassVar[str] = "private and deprecated names of torch break with an upgrade; they have public ones."
    why: ClassVar[str] = (
        "Private names may change in any release, and deprecated ones warn. The public name does the same: run side by "
        "side on torch 2.13, and most on 2.6, without a GPU."
    )

    def may_hold(self, raw: bytes) -> bool:
        return may_use_old_names(raw)

    def hits(self, raw: bytes) -> list[int] | None:
        return old_names_in(raw)

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        said = [finding.message for finding in findings]
        rows = {row for old, row in table().items() if row.warning and any(f"`{old}`" in text for text in said)}
        return tuple(Purpose("lost warning", row.warning, "the old name is deprecated") for row in sorted_rows(rows))

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if module.name.partition(".")[0] == "torch":
            return
        found = list(uses(module))
        for names in imported_names(module):
            if not self.is_compatibility(module, names[0].node):
                yield from self.judge_import(names, found, project)
        done: set[ast.AST] = set()
        for alias in module_aliases(module, found):
            if finding := self.judge_alias(alias, project):
                done |= {use.node for use in alias.uses}
                yield finding
        for use in found:
            is_open = isinstance(use.node, ast.Attribute) and use.node not in done
            if is_open and not self.is_compatibility(module, use.node):
                yield self.judge_use(use, project)
        for node, old in replaced_by_name(module):
            message = f"a test replaces `{old}`, whose public name is `{table()[old].new}`"
            yield module.finding(self.name, node, message, left_alone=f"{where(module, node)}: a name in a string")

    def is_compatibility(self, module: Module, node: ast.AST) -> bool:
        """Whether code is there for other versions of torch: the old name is right in it, and told of only if asked."""
        return not self.is_asked and bool(choice_of_version(module, node))

    def judge_use(self, use: Use, project: Project) -> Finding:
        message = message_for(use.old, use.row)
        try:
            check_use(use)
            check_instances(use.row, project)
            draft = Draft(use.module)
            write_use(draft, use, project)
        except Unsure as unsure:
            return use.module.finding(self.name, use.node, message, left_alone=str(unsure))
        caveat = doubt_about_tests(project, use.row)
        return use.module.finding(
            self.name,
            use.node,
            message,
            edits=draft.edits(),
            caveat=caveat,
            notes=(use.row.why,),
            since=newest([use.row]),
        )

    def judge_alias(self, alias: ModuleAlias, project: Project) -> Finding | None:
        """One finding for a module's import and all its uses; None where each use is to be judged by itself."""
        rows = list(dict.fromkeys(use.row for use in alias.uses))
        try:
            for row in rows:
                check_instances(row, project)
            edits = write_alias(alias, project)
        except Unsure:
            return None
        old = dict.fromkeys(message_for(use.old, use.row) for use in alias.uses)
        caveat = "; ".join(filter(None, dict.fromkeys(doubt_about_tests(project, row) for row in rows)))
        notes = tuple(row.why for row in rows)
        return alias.module.finding(
            self.name, alias.node, "; ".join(old), edits=edits, caveat=caveat, notes=notes, since=newest(rows)
        )

    def judge_import(self, names: list[Imported], found: list[Use], project: Project) -> Iterator[Finding]:
        """One finding for all names of the statement that can change, and one for each that cannot."""
        module, able = names[0].module, []
        for name in names:
            try:
                self.try_import(name, uses_of(name, found), project)
                able.append(name)
            except Unsure as unsure:
                message = message_for(name.old, name.row)
                yield module.finding(self.name, name.alias, message, left_alone=str(unsure))
        if able:
            message = "; ".join(message_for(name.old, name.row) for name in able)
            try:
                edits: tuple[Edit, ...] = write_import(able, found, project)
            except Unsure as unsure:
                yield module.finding(self.name, able[0].node, message, left_alone=str(unsure))
                return
            caveat = "; ".join(filter(None, dict.fromkeys(doubt_about_tests(project, name.row) for name in able)))
            notes = tuple(dict.fromkeys(name.row.why for name in able))
            since = newest([name.row for name in able])
            yield module.finding(self.name, able[0].node, message, edits=edits, caveat=caveat, notes=notes, since=since)

    def try_import(self, name: Imported, found: list[Use], project: Project) -> None:
        """Raise if this name alone could not change."""
        check_import(name, found, project)
        check_instances(name.row, project)
        draft = Draft(name.module)
        for use in found:
            check_use(use)
            write_use(draft, use, project, keep_name=name.keeps_name)


def message_for(old: str, row: Row) -> str:
    return f"`{old}` has a public name: `{row.new}`"


def sorted_rows(rows: set[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.old)


def newest(rows: list[Row]) -> Since:
    """The name that the latest torch has brought."""
    row = max(rows, key=lambda row: tuple(map(int, row.since.split("."))))
    return Since(row.new, row.since)
