"""The process that forks: run by its text, with its socket and what to import. See `tests/zygote.py`."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import types


def main() -> None:
    sys.path.pop(0)  # the folder that it was started in
    for name in sys.argv[2:]:
        importlib.import_module(name)
    requests = socket.socket(fileno=int(sys.argv[1]))
    waking = wake_on_end()
    ends: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests.fileno(), waking], [], [])
        if waking in ready:
            os.read(waking, 512)
            tell_ends(ends)
        if requests.fileno() in ready and not answer(requests, waking, ends):
            return


def wake_on_end() -> int:
    """A descriptor that can be read whenever a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def tell_ends(ends: dict[int, int]) -> None:
    """Every child that has ended, to whoever waits for it."""
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        descriptor = ends.pop(pid)
        os.write(descriptor, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(descriptor)


def answer(requests: socket.socket, waking: int, ends: dict[int, int]) -> bool:
    """Fork what is asked for; False when nobody asks any more."""
    size, descriptors, _, _ = socket.recv_fds(requests, 4, 4)
    if len(size) < 4:
        return False
    payload = b""
    while missing := int.from_bytes(size, "big") - len(payload):
        part = requests.recv(missing)  # and nothing of the next request, which may be there already
        if not part:
            return False
        payload += part
    pid = os.fork()
    if not pid:
        for other in (requests.fileno(), waking, signal.set_wakeup_fd(-1), *ends.values(), descriptors[3]):
            os.close(other)
        become(json.loads(payload), descriptors)
    for descriptor in descriptors[:3]:
        os.close(descriptor)
    ends[pid] = descriptors[3]
    os.write(descriptors[3], f"{pid:20}".encode())
    return True


def become(request: dict[str, object], descriptors: list[int]) -> None:
    """The worker: `python argv` in a session of its own."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(str(request["cwd"]))
        os.environ.clear()
        os.environ.update(request["env"])  # type: ignore[call-overload]
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        sys.argv = list(request["argv"])  # type: ignore[call-overload]
        run_module(sys.argv[1]) if sys.argv[0] == "-m" else run(sys.argv[0])
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with_flushed_streams(code)


def run_module(name: str) -> None:
    sys.path.insert(0, os.getcwd())
    sys.argv = sys.argv[1:]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def run(file: str) -> None:
    module = types.ModuleType("__main__")
    module.__file__ = file
    sys.modules["__main__"] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    with open(file, "rb") as source:
        exec(compile(source.read(), file, "exec"), vars(module))


def with_flushed_streams(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


if __name__ == "__main__":
    main()
