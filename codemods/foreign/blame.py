"""What a third party's code does wrong is said in one line, about the file that it was given, and ends nothing else."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fullgraph.codemods.model import SourceError


@contextmanager
def blamed_on(name: str, path: str, origin: Path | None = None) -> Iterator[None]:
    """Whatever goes wrong inside is an error of the file `path`, with the line of the codemod that failed."""
    try:
        yield
    except SourceError:
        raise
    except RecursionError as error:
        raise SourceError(path, f"{name}: nested too deeply") from error
    except (Exception, SystemExit) as error:
        raise SourceError(path, f"{name} failed: {in_one_line(error, origin)}") from error


def in_one_line(error: BaseException, origin: Path | None = None) -> str:
    """`KeyError: 'x' (codemod.py, line 7)`: the innermost line of the file `origin`, or of any file."""
    said = str(error).strip().splitlines()
    text = ": ".join([type(error).__name__, *said[:1]])
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if origin and frame.filename == str(origin)] or frames
    return f"{text} ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else text
