"""Proofs in a process of their own: they can be ended at any time, and write nothing where a screen is drawn."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.proof import prove_all
from fullgraph.validate.model import ValidateError, Verdict
from fullgraph.validate.pair import Progress

STOPPED = "the proof was stopped"


@dataclass
class Apart:
    """`prove_all` elsewhere, one at a time. `stage` is told what is being done, in the thread that calls."""

    stage: Progress
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    is_over: bool = field(default=False, init=False)

    def __call__(self, *given: Any) -> list[Verdict]:
        if self.is_over:
            raise FullgraphError(STOPPED)
        command = [sys.executable, "-P", "-m", __name__]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as self.process:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            pickle.dump(given, self.process.stdin)
            self.process.stdin.flush()  # and left open: when it closes, nobody waits for a verdict any more
            return self._listen(self.process.stdout)

    def _listen(self, answers: IO[bytes]) -> list[Verdict]:
        while True:
            try:
                kind, said = pickle.load(answers)
            except (EOFError, pickle.UnpicklingError):
                raise FullgraphError(STOPPED if self.is_over else "the proof ended without a verdict") from None
            match kind:
                case "stage":
                    self.stage(*said)
                case "error":
                    raise FullgraphError(said)
                case _:
                    return list(said)

    def close(self) -> None:
        """End what runs with all its workers, and begin nothing more."""
        self.is_over = True
        if self.process is not None:
            self.process.terminate()


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints must not be taken for an answer
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    request, sides, declared, notices, imports = pickle.load(sys.stdin.buffer)
    threading.Thread(target=end_with_the_review, daemon=True).start()
    stage = partial(tell_stage, answers)
    try:
        tell(answers, "verdicts", prove_all(request, sides, declared, notices, imports, stage))
    except (ValidateError, FullgraphError) as error:
        tell(answers, "error", str(error))


def end_with_the_review() -> None:
    """Wait until standard input is closed."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def tell_stage(answers: IO[bytes], stage: str, detail: str) -> None:
    tell(answers, "stage", (stage, detail))


def tell(answers: IO[bytes], kind: str, said: Any) -> None:
    pickle.dump((kind, said), answers)
    answers.flush()


if __name__ == "__main__":
    main()
