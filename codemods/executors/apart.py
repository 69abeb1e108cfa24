"""A process that a worker starts for one piece of work, so that nothing that happens in it can end the worker.

It is given a folder with the question, and leaves the answer there. It ends with whoever started it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors.model import Proof
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import Asked
from fullgraph.codemods.rewrite.crew import Crew
from fullgraph.validate.model import ValidateError, Verdict

QUESTION, ANSWER = "question", "answer"


def look(root: Path, files: Sequence[str], codemods: Sequence[Codemod], paths: list[str], limit: float) -> list[Asked]:
    return list(Crew(1, Project(root, files), codemods, [paths], limit))


def prove(proof: Proof) -> Verdict | str:
    """The verdict, or why there is none."""
    from fullgraph.codemods.executors.local import prove_here

    try:
        return prove_here(proof, lambda stage, detail: None)
    except ValidateError as error:
        return str(error)


def end_with_parent() -> None:
    """Nothing is ever sent on standard input: it ends when whoever holds the other end is gone."""
    os.read(0, 1)  # not sys.stdin, whose lock would be missed when Python ends
    os._exit(1)


def main() -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    folder = Path(sys.argv[1])
    what, given = pickle.loads((folder / QUESTION).read_bytes())
    answer = look(*given) if what == "look" else prove(*given)
    (folder / ANSWER).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    main()
