"""Host reads by line: the calls by which Python gets at the values of a tensor.

They are counted in passing, at the methods themselves, because a mode of torch's would be part of what is compiled.
What an operator reads inside (a mask, the size of a result) is not seen.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType, MethodType
from typing import Any

import torch
from torch import _tensor_str

from ..graphs.places import Line, name_function, real_path
from .moments import Moments
from .whose import Whose, line_at

READS = {
    "item": "item",
    "tolist": "tolist",
    "numpy": "numpy",
    "__bool__": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__complex__": "complex",
}
"""Methods of tensors that return values of theirs, as they are shown."""

COPIES = {"cpu": "cpu", "to": "to"}
"""Methods that wait if they copy from a device to the host."""

PLAIN = (torch.Tensor, torch.nn.Parameter)
HAS_DEVICES = any(getattr(torch.version, name, None) for name in ("cuda", "hip", "xpu")) or sys.platform == "darwin"


class Counted:
    """A method of tensors that is noted and done. It is equal to the method, as a key of a dict too."""

    def __init__(self, original: Any, note: Callable[..., None]) -> None:
        self.original = original
        self.note = note

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, tensor: Any, *args: Any, **options: Any) -> Any:
        if type(tensor) in PLAIN:
            self.note(sys._getframe(1), tensor)
        return self.original(tensor, *args, **options)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self.original

    def __hash__(self) -> int:
        return hash(self.original)

    def __repr__(self) -> str:
        return repr(self.original)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "original"), name)


class CountedCopy(Counted):
    """The same for a method that may return the tensor itself: it counts only if something left a device."""

    def __call__(self, tensor: Any, *args: Any, **options: Any) -> Any:
        result = self.original(tensor, *args, **options)
        if type(tensor) in PLAIN and type(result) in PLAIN and not options.get("non_blocking"):
            with torch._C.DisableTorchFunction():
                leaves = result.is_cpu and not tensor.is_cpu
            if leaves:
                self.note(sys._getframe(1), tensor)
        return result


class HostReads:
    """Counts by instruction; the code objects are kept so that their lines can be told at the end."""

    def __init__(self, whose: Whose) -> None:
        self.whose = whose
        self.set_frame: Callable[[Any], Any] = lambda callback: None
        self.local = threading.local()
        self.forget()

    def forget(self) -> None:
        self.lock = threading.RLock()  # a signal handler may read, too
        self.codes: dict[int, CodeType] = {}
        self.counts: dict[tuple[int, int, str, bool], int] = {}
        self.moments = {False: Moments(), True: Moments()}

    def install(self) -> None:
        for name, shown in READS.items():
            setattr(torch.Tensor, name, Counted(getattr(torch.Tensor, name), self.noting(shown)))
        for name, shown in COPIES.items() if HAS_DEVICES else ():
            setattr(torch.Tensor, name, CountedCopy(getattr(torch.Tensor, name), self.noting(shown)))
        _tensor_str._str = self.reading_once(_tensor_str._str)

    def reading_once(self, show: Callable[..., str]) -> Callable[..., str]:
        """A tensor that is printed is one read, however often its values are asked for."""

        def _str(self_: Any, *args: Any, **options: Any) -> str:
            if type(self_) in PLAIN:
                self.note("repr", sys._getframe(1), self_)
            before = getattr(self.local, "is_silent", False)
            self.local.is_silent = True
            try:
                return show(self_, *args, **options)
            finally:
                self.local.is_silent = before

        _str.__code__ = _str.__code__.replace(co_filename=_tensor_str.__file__)
        return _str

    def noting(self, shown: str) -> Callable[..., None]:
        return lambda frame, tensor: self.note(shown, frame, tensor)

    def hide_from_dynamo(self) -> None:
        """What is counted in compiled code, between two graphs, must not be compiled itself."""
        from torch._C._dynamo.eval_frame import set_eval_frame
        from torch._dynamo import eval_frame

        functions: tuple[Any, ...] = (Counted.__get__, Counted.__call__, CountedCopy.__call__, HostReads.note)
        for function in (*functions, self.noting(""), _tensor_str._str):
            eval_frame.skip_code(function.__code__)
        self.set_frame = set_eval_frame

    def note(self, shown: str, frame: FrameType, tensor: Any) -> None:
        before = self.set_frame(None)
        try:
            if not getattr(self.local, "is_silent", False):
                self.count(shown, self.whose.find_frame(frame), tensor)
        except Exception:  # it is not the program's business
            return
        finally:
            self.set_frame(before)

    def count(self, shown: str, frame: FrameType | None, tensor: Any) -> None:
        if frame is None:
            return
        code, is_away = frame.f_code, False
        if HAS_DEVICES:
            with torch._C.DisableTorchFunction():
                is_away = not tensor.is_cpu
        key = (id(code), frame.f_lasti, shown, is_away)
        with self.lock:
            self.codes[key[0]] = code
            self.counts[key] = self.counts.get(key, 0) + 1
            self.moments[is_away].add(time.monotonic())

    def tell_moments(self) -> dict[str, Any]:
        with self.lock:
            return self.moments[any(key[3] for key in self.counts)].tell()

    def tell(self) -> list[dict[str, Any]]:
        """By line. Where a device is used, a tensor of the host's is read for nothing; elsewhere it stands for one."""
        with self.lock:
            counts = dict(self.counts)
        has_away = any(key[3] for key in counts)
        found: dict[tuple[str, int, str, str], int] = {}
        for (code_id, offset, shown, is_away), number in counts.items():
            if is_away == has_away:
                code = self.codes[code_id]
                line = line_at(code, offset)
                function = name_function(Line(code.co_filename, line, code.co_name))
                key = (real_path(code.co_filename), line, function, shown)
                found[key] = found.get(key, 0) + number
        return [dict(zip(("file", "line", "function", "call", "count"), (*key, n))) for key, n in sorted(found.items())]
