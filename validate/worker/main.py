"""The worker process: reads one JSON request per line, does it, answers with one sealed JSON line.

It is run by path under the user's python. Its own folder is taken off sys.path and its modules are loaded as a private
package, so that they never hide a module of the user's. Requests and answers have descriptors of their own, because
user code prints on standard output and reads from standard input. What it needs of Python is taken before user code
runs, which may replace any of it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from os import _exit, fstat, getpid, write
from traceback import format_exc
from typing import Any, Callable, TextIO

PACKAGE = "_fullgraph_worker"
CLOSED = 86
"""The exit code when user code has closed the descriptors that requests and answers need."""


def main() -> None:
    load_package(os.path.dirname(os.path.abspath(__file__)))
    token = os.environ[importlib.import_module(PACKAGE + ".process.strays").VARIABLE]
    importlib.import_module(PACKAGE + ".process.guard").stand_guard(token, sys.argv.pop())
    requests, answers = take_over_streams()
    seal = importlib.import_module(PACKAGE + ".process.seal").sealer(requests.readline())
    serve(requests, answers, seal, importlib.import_module(PACKAGE + ".desk"))


def serve(requests: TextIO, answers: int, seal: Callable[[int, str], str], desk: Any) -> None:
    encode, decode = own_json()
    office, own, pipe = desk.Desk(), getpid(), name_file(answers)
    try:
        for number, line in enumerate(requests, 1):
            body = tell(answer(office, desk.UserError, decode(line)), encode)
            if getpid() != own:
                _exit(0)  # user code has forked, and its child has come back here
            if name_file(answers) != pipe:
                _exit(CLOSED)  # the number is another file's by now
            send(answers, f"{seal(number, body)} {body}\n".encode())
    except OSError:
        _exit(CLOSED)


def answer(office: Any, user_error: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Do one request. Whatever user code raises is an answer too."""
    try:
        return {"result": getattr(office, request.pop("do"))(**request)}
    except user_error as error:
        return {"error": error.kind, "text": str(error)}
    except MemoryError as error:
        return {"error": "memory", "text": f"MemoryError: {error}"}
    except BaseException as error:
        kind = "memory" if type(error).__name__ == "OutOfMemoryError" else "error"
        return {"error": kind, "text": format_exc(limit=-12)}


def tell(result: dict[str, Any], encode: Callable[[Any], str]) -> str:
    """In one line of JSON. The user's values may be in it, and are not all of a kind that JSON knows."""
    try:
        return encode(result)
    except (TypeError, ValueError, RecursionError) as error:
        return encode({"error": "error", "text": f"the answer is no JSON: {type(error).__name__}: {error}"})


def name_file(descriptor: int) -> tuple[int, int]:
    """What a descriptor leads to."""
    told = fstat(descriptor)
    return told.st_dev, told.st_ino


def send(answers: int, data: bytes) -> None:
    while data:
        data = data[write(answers, data) :]


def own_json() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """Python's JSON in a copy that nobody else has: user code may change the classes of the other one."""
    encoder, decoder = (load_copy(f"json.{name}") for name in ("encoder", "decoder"))
    return encoder.JSONEncoder(default=repr).encode, decoder.JSONDecoder().decode


def load_copy(name: str) -> Any:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def take_over_streams() -> tuple[TextIO, int]:
    """The pipes to the controller; standard input becomes empty, standard output goes where errors go."""
    requests, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def load_package(folder: str) -> None:
    """Make the modules beside this one importable under a private name, and under no other."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    main()
