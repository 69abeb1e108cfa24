"""Which calls emit a message, and through what."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module

LEVELS = ("debug", "info", "warning", "error", "critical")
ONCE = ("debug_once", "info_once", "warning_once", "error_once")
OTHERS = ("exception", "log")
FUNCTIONS = {"warnings.warn", *(f"logging.{level}" for level in LEVELS)}
GETTERS = {"getLogger", "get_logger"}
HUGGING = {"transformers", "diffusers", "datasets", "huggingface_hub", "utils"}
"""Whose `utils.logging.get_logger` is seen to return a `logging.Logger`; `utils` is that of the package itself."""

SHOWN = {"", "UserWarning", "RuntimeWarning", "FutureWarning"}
"""Categories whose warnings are shown wherever they come from."""

STREAMS = {"sys.stdout", "sys.stderr"}
Emitter = Literal["logger", "once", "warn", "print"]


@dataclass(frozen=True)
class Kind:
    """What emits a message: a logger's method, `warnings.warn` with a category and a stack level, or `print`.

    `settings`: what a `print` is told about the text, by name, as it is written; `stream`: where it goes.
    """

    emitter: Emitter
    function: str
    category: str = ""
    stacklevel: int = 1
    settings: tuple[tuple[str, str], ...] = ()
    stream: str = ""
    flushed: bool = False

    @property
    def name(self) -> str:
        """The beginning of the name of its helper."""
        if self.emitter == "warn":
            category = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.category.removesuffix("Warning")).lower()
            words = ["_warn", category, "caller" if self.stacklevel == 2 else ""]
            return "_".join(word for word in words if word)
        if self.emitter == "print":
            stream = f"to_{self.stream.rpartition('.')[2]}" if self.stream else ""
            words = ["_print", stream, "flushed" if self.flushed else "", *(name for name, _ in self.settings)]
            return "_".join(word for word in words if word)
        return "_" + self.function.replace(".", "_").lower().lstrip("_")

    def emit(self, text: str) -> str:
        """The call inside the helper; two frames stand between it and the line that has the message."""
        if self.emitter == "warn":
            category = f", {self.category}" if self.category else ""
            return f"{self.function}({text}{category}, stacklevel={self.stacklevel + 2})"
        if self.emitter == "print":
            given = [text, *(f"{name}={name}" for name, _ in self.settings)]
            given += [f"file={self.stream}"] * bool(self.stream) + ["flush=True"] * self.flushed
            return f"{self.function}({', '.join(given)})"
        return f"{self.function}({text})" if self.emitter == "once" else f"{self.function}({text}, stacklevel=3)"


def is_message(module: Module, call: ast.Call) -> bool:
    """Whether a call looks like a message; cheap, for all calls of a file."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "print" or module.resolve(function) in FUNCTIONS
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in ONCE:
        return True
    if function.attr not in (*LEVELS, *OTHERS):
        return module.resolve(function) == "warnings.warn"
    if module.resolve(function.value) == "logging":
        return True
    owner = function.value
    last = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return last.lower().rstrip("_").endswith(("logger", "log"))


def kind_of(module: Module, call: ast.Call) -> Kind:
    """What the call emits through; Unsure where that is not seen."""
    where = f"{module.path}:{call.lineno}"
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        if not module.scopes.is_builtin(call.func, "print"):
            raise Unsure(f"{where}: print means something else in this file")
        return print_kind(module, call)
    written = ast.unparse(call.func)
    if module.resolve(call.func) == "warnings.warn":
        return warning_kind(module, call, written)
    if not isinstance(call.func, ast.Attribute):
        raise Unsure(f"{where}: {written} is not called through its module")
    if call.func.attr == "exception":
        raise Unsure(f"{where}: the message tells of the exception that is being handled")
    if module.resolve(call.func.value) != "logging":
        check_logger(module, call.func.value, call.func.attr in ONCE)
    return Kind("once" if call.func.attr in ONCE else "logger", written)


def print_kind(module: Module, call: ast.Call) -> Kind:
    """A `print`; its text may be joined and ended otherwise, and go to a standard stream."""
    settings, stream, flushed = [], "", False
    for keyword in call.keywords:
        value = keyword.value
        constant = value.value if isinstance(value, ast.Constant) else None
        if keyword.arg in ("sep", "end") and isinstance(constant, str):
            settings.append((keyword.arg, module.code(value)))
        elif keyword.arg == "flush" and isinstance(constant, bool):
            flushed = constant
        elif keyword.arg == "file" and is_stream(module, value):
            stream = module.code(value)
        else:
            raise Unsure(f"{module.path}:{call.lineno}: the message is given {keyword.arg or '**'}=")
    return Kind("print", "print", settings=tuple(sorted(settings)), stream=stream, flushed=flushed)


def is_stream(module: Module, value: ast.expr) -> bool:
    """Whether it is a standard stream by a name that the helper, at the top level, can use too."""
    first = value.value if isinstance(value, ast.Attribute) else value
    is_top = isinstance(first, ast.Name) and module.scopes.of(first) is module.tree
    return is_top and module.resolve(value) in STREAMS


def warning_kind(module: Module, call: ast.Call, written: str) -> Kind:
    if not call.args:
        raise Unsure(f"{module.path}:{call.lineno}: the text of the warning is given by name")
    given: dict[str, ast.expr] = {str(keyword.arg): keyword.value for keyword in call.keywords}
    given |= dict(zip(("message", "category", "stacklevel"), call.args, strict=False))
    level, category = given.get("stacklevel"), given.get("category")
    name = category.id if isinstance(category, ast.Name) else ""
    where = f"{module.path}:{call.lineno}"
    if set(given) - {"message", "category", "stacklevel"} or len(call.args) > 3:
        raise Unsure(f"{where}: the warning is given more than a text, a category and a stack level")
    if category and not (isinstance(category, ast.Name) and module.scopes.of(category) is module.tree):
        raise Unsure(f"{where}: the category of the warning is not a name of the module")
    if level and not (isinstance(level, ast.Constant) and level.value in (1, 2)):
        raise Unsure(f"{where}: the stack level of the warning is not 1 or 2")
    stacklevel = level.value if isinstance(level, ast.Constant) else 1
    if stacklevel == 2 and name not in SHOWN:
        raise Unsure(f"{where}: whether a {name} is shown may depend on who calls the function")
    return Kind("warn", written, name, stacklevel)  # type: ignore[arg-type]


def check_logger(module: Module, owner: ast.expr, once: bool) -> None:
    """Raise unless the logger is a name of the module, made by `getLogger` and never bound again."""
    where = f"{module.path}:{owner.lineno}"
    if not isinstance(owner, ast.Name) or module.scopes.of(owner) is not module.tree:
        raise Unsure(f"{where}: {ast.unparse(owner)} is not a logger of the module")
    bindings = module.scopes.bindings(owner)
    value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    getter = value.func if isinstance(value, ast.Call) else None
    if getter is None or ast.unparse(getter).rpartition(".")[2] not in GETTERS:
        raise Unsure(f"{where}: nothing says that {owner.id} is a logger of logging's")
    meaning = module.resolve(getter) or ""
    top = meaning.partition(".")[0]
    known = meaning == "logging.getLogger" or (top in HUGGING and meaning.endswith("utils.logging.get_logger"))
    if not (known or once):
        raise Unsure(f"{where}: nothing says that {owner.id} is a logger of logging's")
