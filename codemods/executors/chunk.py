"""A process that a worker starts for some files, so that one that hangs or crashes cannot end the worker.

A request is on standard input and the answers go to standard output, both pickled.
"""

from __future__ import annotations

import os
import pickle
import sys

from codemods.project import Project
from codemods.rewrite.crew import Crew


def main() -> None:
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # whatever codemods print is no answer
        root, files, codemods, paths, limit = pickle.load(sys.stdin.buffer)
        pickle.dump(list(Crew(1, Project(root, files), codemods, [paths], limit)), answers)


if __name__ == "__main__":
    main()
