"""Calls and compilations of every compiled entry.

Calls are heard of through the hooks that a compiled callable runs on its way in and out anyway, so nothing is wrapped;
compilations by listening to Dynamo, as the validator does.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch._C._dynamo.eval_frame import set_eval_frame
from torch._dynamo import eval_frame, symbolic_convert

from ..graphs import breaks, dynamo
from ..graphs.frames import Frame, Listener
from ..graphs.places import Line, find_deepest, is_users, real_path, start_of
from . import pending
from .entries import FRAMES, Entry, Key, find_key, module_of, unwrap
from .hook import Choosy, Hook
from .inputs import describe_inputs, find_module, name_phase
from .pending import Waiting
from .process import Process, guard
from .reached import Reached
from .whose import Whose


@dataclass
class Compilation(Frame):
    """A frame with the entry that it is compiled for."""

    entry: Entry | None = None
    began: float = 0.0
    seconds: float = 0.0


class Dynamo(Listener):
    """All entries of one process; as a listener it knows for which of them a frame is compiled."""

    def __init__(self, process: Process, whose: Whose, reached: Reached) -> None:
        super().__init__(times_guards=False)
        self.process = process
        self.whose = whose
        self.reached = reached
        self.undo = contextlib.ExitStack()  # kept, and never run
        self.generation = 0
        self.forget()

    def forget(self) -> None:
        self.generation += 1
        self.lock = threading.RLock()
        self.entries: dict[Key, Entry] = {}
        self.known: dict[Any, tuple[Any, Entry]] = {}
        self.by_compilation: dict[str, Entry] = {}
        self.backwards: list[dict[str, Any]] = []
        self.waiting: weakref.WeakSet[Waiting] = weakref.WeakSet()
        self.frames: list[Frame] = []
        self.local = threading.local()

    def tell(self) -> list[dict[str, Any]]:
        with self.lock:
            return [entry.tell() for _, entry in sorted(self.entries.items())]

    def tell_compiles(self) -> list[dict[str, Any]]:
        """Every compilation with its moment. Only what was compiled or broke is one."""
        with self.lock:
            frames = [(entry, frame) for _, entry in sorted(self.entries.items()) for frame in entry.frames]
        told = [tell_compile(entry, frame) for entry, frame in frames if isinstance(frame, Compilation)]
        return [one for one in told if one["kind"] or one["breaks"]] + list(self.backwards)

    # Hooks

    def install(self) -> None:
        dynamo.follow_frames(self, self.undo)
        dynamo.follow_failures(self, self.undo)
        dynamo.follow_log(self, self.undo)
        dynamo.TRACE.handlers = Choosy(dynamo.TRACE.handlers)
        for function in (dynamo.TRACE.isEnabledFor, dynamo.TRACE.handle, Choosy.__bool__, Dynamo.hear):
            eval_frame.skip_code(function.__code__)
        self.follow_compile()
        self.follow_tracing()
        self.follow_backward()

    def follow_compile(self) -> None:
        context = eval_frame._TorchDynamoContext
        original = context.__call__

        def compile_and_note(self_: Any, target: Any) -> Any:
            if isinstance(self_, eval_frame.OptimizeContext):
                guard(self.process, self.note_compile, self_, target)
            return original(self_, target)

        dynamo.swap(self.undo, context, "__call__", disguised(compile_and_note, eval_frame))

    def follow_tracing(self) -> None:
        translator = symbolic_convert.InstructionTranslatorBase
        original = translator.__init__

        def begin_tracing(self_: Any, *args: Any, **options: Any) -> None:
            original(self_, *args, **options)
            self.reached.add(self_.f_code)

        dynamo.swap(self.undo, translator, "__init__", begin_tracing)

    def follow_backward(self) -> None:
        original = torch.autograd.graph._engine_run_backward

        def _engine_run_backward(outputs: Any, *args: Any, **options: Any) -> Any:
            before = set_eval_frame(None)
            guard(self.process, self.note_backward, outputs)
            set_eval_frame(before)
            return original(outputs, *args, **options)

        eval_frame.skip_code(_engine_run_backward.__code__)
        for module in (torch.autograd, torch.autograd.graph):
            dynamo.swap(self.undo, module, "_engine_run_backward", _engine_run_backward)

    # Entries

    def note_compile(self, context: Any, target: Any) -> None:
        """Something is being compiled. A class, or a module whose call comes back here, has no code of its own."""
        if isinstance(target, type):
            return
        place = self.find_place(sys._getframe(1))
        if not any(isinstance(hook, Hook) for hook in context.enter_exit_hooks):
            context.enter_exit_hooks.append(Hook(self, place))
            entry = self.find_entry(target, place)
            with self.lock:
                entry.compiled_at[real_path(place.file), place.line] += 1
                entry.backends.add(name_backend(context))

    def find_place(self, frame: FrameType | None) -> Line:
        found = self.whose.find_frame(frame, stops=False)
        return Line(found.f_code.co_filename, found.f_lineno, found.f_code.co_name) if found else Line("", 0, "")

    def find_entry(self, target: Any, place: Line) -> Entry:
        """By the code that is called and the class of its module; objects that come and go do not add up."""
        inner = unwrap(target)
        mark = getattr(inner, "__code__", None) or type(inner)
        number = (id(mark), id(type(module_of(inner))), place)
        known = self.known.get(number)
        if known is None:
            key, function = find_key(target, place)
            with self.lock:
                entry = self.entries.setdefault(key, Entry(key, function))
                known = self.known[number] = ((mark, type(module_of(inner))), entry)
        return known[1]

    # Calls

    @property
    def running(self) -> list[Entry]:
        """The entries that this thread is in, innermost last."""
        if not hasattr(self.local, "running"):
            self.local.running = []
        running: list[Entry] = self.local.running
        return running

    def begin_call(self, waiting: Waiting, owner: Any, args: Any, options: Any) -> Callable[[], None]:
        entry = waiting.entry
        text = describe_inputs(args, options)
        phase = name_phase(find_module(owner, args))
        with self.lock:
            entry.phases[phase] += 1
            entry.reentries += waiting.span is not None
            entry.add_inputs(text)
        running = self.running
        depth, first = len(running), pending.read_number()
        running.append(entry)

        def end_call() -> None:
            del running[depth:]
            waiting.end_call(first, pending.read_number())
            guard(self.process, self.process.write_if_due)

        return end_call

    def note_backward(self, outputs: Any) -> None:
        with self.lock:
            pending.settle(list(self.waiting), list(outputs))

    # Compilations

    def begin(self, code: Any) -> Frame:
        frame = Compilation(code.co_filename, code.co_firstlineno, code.co_name, began=time.monotonic())
        frame.entry = self.running[-1] if self.running else self.find_stray(frame)
        self.open_frames.append(frame)
        with self.lock:
            frame.entry.add_frame(frame)
        return frame

    def leave(self) -> None:
        """A compilation inside another is part of its time."""
        frame = self.open_frames.pop()
        if isinstance(frame, Compilation) and frame.entry:
            frame.seconds = time.monotonic() - frame.began
            frame.entry.seconds += 0 if self.open_frames else frame.seconds

    def find_stray(self, frame: Frame) -> Entry:
        """What is compiled outside of any call, under `with torch._dynamo.optimize()`, is an entry of its own."""
        own = start_of(Line(*frame.place))
        place = own if is_users(own.file) else find_deepest(frame.callers) or own
        key = Key(real_path(place.file), place.line, frame.function, "function")
        with self.lock:
            return self.entries.setdefault(key, Entry(key, frame.function))

    def hear(self, record: Any) -> None:
        """Somebody else's handlers may have asked for it in the middle of compiled code."""
        before = set_eval_frame(None)
        try:
            super().hear(record)
            guard(self.process, self.take_metrics, record)
        finally:
            set_eval_frame(before)

    def take_metrics(self, record: Any) -> None:
        metadata = getattr(record, "metadata", {})
        metrics = metadata.get("compilation_metrics") or metadata.get("bwd_compilation_metrics")
        if metrics and metrics.get("compile_id"):
            self.take_time(metrics)

    def take_time(self, metrics: dict[str, Any]) -> None:
        """The backward of a graph is compiled later, when no frame is open."""
        frame = self.open_frames[-1] if self.open_frames else None
        if isinstance(frame, Compilation) and frame.entry:
            self.by_compilation[metrics["compile_id"]] = frame.entry
        elif (entry := self.by_compilation.get(metrics["compile_id"])) and not metrics.get("is_runtime"):
            spent = (metrics.get("duration_us") or 0) / 1e6
            entry.seconds += spent
            if len(self.backwards) < FRAMES:
                self.backwards.append(moment(entry, time.monotonic() - spent, spent, "backward"))


def tell_compile(entry: Entry, frame: Compilation) -> dict[str, Any]:
    kind = "" if frame.outcome != "compiled" else "recompile" if frame.recompile else "compile"
    return moment(entry, frame.began, frame.seconds, kind, len(list(breaks.list_lines(frame))))


def moment(entry: Entry, at: float, spent: float, kind: str, broken: int = 0) -> dict[str, Any]:
    """`at`: on the clock that all processes of a machine share."""
    return {"entry": entry.key.name, "kind": kind, "at": at, "seconds": round(spent, 4), "breaks": broken}


def disguised(function: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """Torch skips the frames of this file of its own."""
    function.__code__ = function.__code__.replace(co_filename=module.__file__)
    return function


def name_backend(context: Any) -> str:
    """`inductor`, or what was given as a backend; and whether it was asked for CUDA graphs."""
    backend = eval_frame.innermost_backend(context.callback)
    inner = getattr(backend, "compiler_fn", None) or backend
    name = getattr(backend, "compiler_name", None) or getattr(inner, "__name__", type(inner).__name__)
    config = getattr(backend, "config", None)
    has_graphs = isinstance(config, dict) and config.get("triton.cudagraphs")
    return f"{name}, CUDA graphs" if has_graphs else str(name)
