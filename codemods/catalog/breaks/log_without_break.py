"""Keep messages in compiled code without breaking the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Finding, Purpose, Since
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.payload import tested
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import traced_nodes
from fullgraph.codemods.topics.breaks.traced import Traced, traced_functions
from fullgraph.codemods.topics.messages.helper import is_helper
from fullgraph.codemods.topics.messages.kinds import is_message
from fullgraph.codemods.topics.messages.reading import named_reads
from fullgraph.codemods.topics.messages.transforms import transform_near
from fullgraph.codemods.topics.messages.writing import condition_around, rewrite
from fullgraph.codemods.topics.scalars.guard import is_shut_out

SINCE = Since("operator that can be kept out of CUDA graphs", "2.9")
MESSAGE = re.compile(
    rb"\bprint\(|\bwarn\(|\.(?:debug|info|warning|error)_once\(|log(?:ger|ging)?_?\.(?:debug|info|warn|error|exc|crit|log)",
    re.I,
)


class LogWithoutBreak(Codemod):
    """Keep log messages, warnings and prints of compiled code, without a graph break.

    Found in functions that are compiled: `logger.info` and the other levels, `logger.log`, `logging.info`,
    `logger.warning_once`, `warnings.warn` and `print`, and the commonest of all: an `if` on a tensor's value that has
    nothing but a message in it (`if x.isnan().any(): logger.warning("nan")`).

    - A plain text of `warning_once` and the like: a helper under `torch.compiler.assume_constant_result` emits it
      while the code is traced. The method itself sees to it that this is once. Where another message, or a test of a
      tensor's value, stands above it in the function it keeps its turn, as every other message does.
    - Every other message: a helper of three lines, `@in_graph`, is a part of the graph as an operator. It emits at each
      call, with the values that tensors have there, also if they are written in place later. Sizes that vary do not
      recompile. `in_graph` comes from a new file `in_graph.py` at the top of the package.
    - The `if` on a tensor: the operator gets the condition, and decides when that is known.
    `x.mean().item()` that is read only for a message is read by the operator. An f-string becomes a text with holes. A
    `print` may have `sep=`, `end=`, `flush=`, and `file=` with a standard stream.

    Whether what is read by name (`loss.item()`) is a tensor of one element is asked while the code is traced; if it is
    not, and in eager mode, the message runs as it is written, from the other branch of `torch.compiler.is_compiling()`.

    In eager mode everything is as before: text, level, count, and the place that a record or a warning names. In
    compiled code the text and the count are the same. The place is the helper there, a tensor shows no `grad_fn`, what
    is said once while the code is traced comes before what callers say, a warning that filters turn into an error is
    raised out of the graph, what is recomputed for checkpointing does not tell its messages twice, and a call that
    fails while it is traced has told nothing. `torch.export` leaves the operators out.

    Measured on torch 2.13, CPU, backends eager, aot_eager and inductor, with `fullgraph=True`, in threads, in training,
    under `no_grad`, in functions that are inlined and with sizes that vary: breaks 1 > 0 for each message, and all
    messages kept. The alternatives lose some: `ignore_logging_functions` all of them; `reorderable_logging_functions`
    those of every inlined function, and it holds only in the thread that set it. A message costs about 14 us per
    call of the compiled function, a helper 0.5 us in eager mode, and the import of `in_graph.py` about 1 ms.
    CUDA graphs are split at the operator (it is tagged `cudagraph_unsafe`), which was not measured.

    A value that is no tensor, number, text, None, dtype, device, shape, tuple or list breaks the graph as before; so
    does a tuple or list that has sizes that vary and anything but whole numbers.

    The finding is unsafe where the message may hold a tensor and a file that names the function, or its class, also has
    `vmap` or `torch.func` in it: their tensors are an error in such an operator, where the graph only broke before.

    Left alone:
    - a logger that is not the module's own name for `logging.getLogger(...)`: an attribute, a parameter, a local name
    - messages in a `try`, or in a `with` that is not torch's: they would be emitted outside of it
    - messages in generators and coroutines, and those whose result is used
    - `logger.exception`, and messages with `exc_info=`, `extra=`, `stacklevel=` and the like; a `print` with `file=`,
      `sep=` or `end=` that is no standard stream or plain text
    - texts that are put together before the call (`%`, `.format`, `+`)
    - f-strings with `!r`, `=` or computed formats, or that call something between two values
    - a number that is read and used further (`loss.item() * 2`), or by `float()`, `tolist()`; one for `%s` beside
      other codes, under an `if` on a tensor, or in a `print` with `sep=`
    - warnings with a stack level above 2, or with one of 2 and a category that is shown or not by where it comes from
      (`DeprecationWarning`, own classes)
    - an `if` on a tensor with values in its message that may not be there if the condition is false
    - a `print` or `logger` that means something else too
    - files that TorchScript compiles, or that import torch only for type checking, in a `try` or inside functions
    - notebooks, packages with another `in_graph.py`, and scripts that do not reach the one of the project
    """

    repairs_breaks: ClassVar[bool] = True
    needles: ClassVar[tuple[bytes, ...]] = (b"torch",)
    pattern: ClassVar[re.Pattern[bytes]] = MESSAGE
    claim: ClassVar[str] = "a log message, warning or print breaks the graph; keep it without the break."
    why: ClassVar[str] = (
        "A message ends the graph at its line. As an operator of its own it is a part of the graph and still appears "
        "(torch 2.13: 1 break becomes 0 for each message, and no message is lost)."
    )

    def hits(self, raw: bytes) -> Iterable[int]:
        return (match.start() for match in MESSAGE.finditer(raw))

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (tested("in_graph.py"),) if findings else ()

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        found: dict[Function, list[ast.Call]] = {}
        for call in module.nodes(ast.Call):
            if is_message(module, call) and (function := module.enclosing(call, *FUNCTIONS)):
                found.setdefault(function, []).append(call)
        among = [function for function in found if not is_helper(module, function)]
        for traced in traced_functions(self, module, project, among=among):
            yield from self.judge_all(module, project, traced, found[traced.function])

    def judge_all(self, module: Module, project: Project, traced: Traced, calls: list[ast.Call]) -> Iterator[Finding]:
        runs = set(traced_nodes(module, traced.function))
        for call in calls:
            around = condition_around(module, call)
            if named_reads(module, call) and is_shut_out(module, call):
                continue
            if call in runs and (traced.admits(call) or (around and traced.admits(around[0].test))):
                yield self.judge(module, project, traced, call)

    def judge(self, module: Module, project: Project, traced: Traced, call: ast.Call) -> Finding:
        message = f"{ast.unparse(call.func)} breaks the graph in {traced.function.name}: {traced.because}"
        try:
            edits = rewrite(module, project, call, traced.function)
        except Unsure as unsure:
            return module.finding(self.name, call, message, left_alone=str(unsure))
        path = transform_near(module, project, call, traced.function)
        caveat = (
            f"{path} transforms functions: a tensor of vmap or grad in a compiled message is an error" if path else ""
        )
        return module.finding(self.name, call, message, edits=edits, caveat=caveat, since=SINCE)
