"""The worker process: reads one JSON request per line, does it, answers with one JSON line.

It is run by path under the user's python. Its own folder is taken off sys.path and its modules are loaded as a private
package, so that they never hide a module of the user's. Requests and answers have descriptors of their own, because
user code prints on standard output and reads from standard input.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from typing import Any, TextIO

PACKAGE = "_fullgraph_worker"


def main() -> None:
    load_package(os.path.dirname(os.path.abspath(__file__)))
    token = os.environ[importlib.import_module(PACKAGE + ".process.strays").VARIABLE]
    importlib.import_module(PACKAGE + ".process.guard").stand_guard(token, sys.argv.pop())
    requests, answers = take_over_streams()
    desk = importlib.import_module(PACKAGE + ".desk")
    office, own = desk.Desk(), os.getpid()
    for line in requests:
        result = answer(office, desk.UserError, json.loads(line))
        if os.getpid() != own:
            os._exit(0)  # user code has forked, and its child has come back here
        send(answers, token, result)


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
        return {"error": kind, "text": traceback.format_exc(limit=-12)}


def send(answers: TextIO, token: str, result: dict[str, Any]) -> None:
    """One line that begins with the token, so that nothing else is taken for an answer."""
    answers.write(token + json.dumps(result, default=repr) + "\n")
    answers.flush()


def take_over_streams() -> tuple[TextIO, TextIO]:
    """The pipes to the controller; standard input becomes empty, standard output goes where errors go."""
    requests, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
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
