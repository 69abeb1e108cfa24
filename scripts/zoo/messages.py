"""What a program says while it runs: log records, warnings and prints; and whether another run says the same."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

Message = tuple[str, str]
"""Where it was said (`log`, `warning` or `print`, with level, logger or category), and the text."""

TORCH = "torch"


class Listener(logging.Handler):
    """Keeps what is said. A record that reaches it twice, by its logger and by the root, counts once."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Message] = []
        self.last: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record is not self.last and record.name.partition(".")[0] != TORCH:
            self.said.append((f"log {record.levelname} {record.name}", record.getMessage()))
        self.last = record

    def warn(self, message: Warning | str, category: type[Warning], filename: str, *_: object, **__: object) -> None:
        """Torch's own files warn about compiling; nobody is held to that."""
        if f"/{TORCH}/" not in filename:
            self.said.append((f"warning {category.__name__}", str(message)))

    def take(self) -> list[Message]:
        """What was said since the last time."""
        said, self.said = self.said, []
        return said


@contextlib.contextmanager
def listening(*loggers: str) -> Iterator[Listener]:
    """Inside, everything is heard, each warning every time it is given, and nothing reaches the terminal."""
    listener, printed = Listener(), Printed()
    printed.listener = listener
    with contextlib.ExitStack() as undo:
        for logger in {logging.getLogger(name) for name in ("", *loggers)}:
            logger.addHandler(listener)
            undo.callback(logger.removeHandler, listener)
        undo.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        warnings.showwarning = listener.warn
        undo.enter_context(contextlib.redirect_stdout(printed))
        yield listener


class Printed(io.TextIOBase):
    """Standard output that is heard."""

    listener: Listener

    def write(self, text: str) -> int:
        if text.strip():
            self.listener.said.append(("print", text.rstrip("\n")))
        return len(text)


# Comparing


def compare_plain(before: Sequence[Sequence[Message]], after: Sequence[Sequence[Message]]) -> list[str]:
    """Without compiling, every call says the same in the same order."""
    differences = [] if len(before) == len(after) else [f"{len(before)} calls spoke, then {len(after)}"]
    for place, (ours, theirs) in enumerate(zip(before, after, strict=False)):
        if [tuple(one) for one in ours] != [tuple(one) for one in theirs]:
            told = describe(Counter(map(as_key, ours)), Counter(map(as_key, theirs)))
            differences += [f"call {place}: {one}" for one in told or ["another order"]]
    return differences


def compare_compiled(plain: Sequence[Sequence[Message]], compiled: Sequence[Sequence[Message]]) -> list[str]:
    """Over all calls together, a reader sees every text as often as without compiling."""
    return describe(count_seen(plain), count_seen(compiled))


def count_seen(calls: Sequence[Sequence[Message]]) -> Counter[Message]:
    """Python shows the same warning of one place once; log records and prints are shown each time."""
    counts = Counter(as_key(message) for call in calls for message in call)
    return Counter({key: 1 if key[0].startswith("warning") else count for key, count in counts.items()})


def as_key(message: Sequence[str]) -> Message:
    where, text = message
    return where, text


def describe(ours: Counter[Message], theirs: Counter[Message]) -> list[str]:
    told = []
    for key in dict.fromkeys([*ours, *theirs]):
        if ours[key] != theirs[key]:
            word = "lost" if not theirs[key] else "new" if not ours[key] else "other count"
            told.append(f"{word} ({ours[key]} > {theirs[key]}): {key[0]}: {key[1][:80]}")
    return told
