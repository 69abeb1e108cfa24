"""Make the README's pictures from real runs on the bundled training project: a review on a terminal, and a report.

`python scripts/pictures.py [FOLDER] [review|report]...` writes docs/pictures/, both pictures unless one is named. The
review is the same at every run. The counts of the report are too; its guard time is that of the machine.
"""

from __future__ import annotations

import base64
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from tests.ui.browser import Browser, find_chromium

ROOT = Path(__file__).parent.parent
FULLGRAPH = Path(sys.executable).with_name("fullgraph")
FIX = ["fix", "src", "--select", "isolate_telemetry"]
PROVE = [*FIX, "--yes", "--prove", "scenarios/verbose.py", "--device", "cpu", "--backend", "aot_eager"]
COLUMNS = 100
PAGE_WIDTH = 1100
PROMPT = b"apply? [y,n,a,d,u,e,p,i,o,x,s,q,?]"
FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Of rich's template: what would load a font from elsewhere."""


def main() -> int:
    given = sys.argv[1:]
    folder = Path(given.pop(0)) if given and given[0] not in PICTURES else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name in given or PICTURES:
        with tempfile.TemporaryDirectory(prefix="fullgraph-pictures-") as scratch:
            project = Path(scratch).resolve() / "seedling"
            shutil.copytree(ROOT / "fixtures" / "demo", project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
            PICTURES[name](project, folder)
    return 0


# The review


def picture_review(project: Path, folder: Path) -> None:
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    shown = f"$ fullgraph {' '.join(FIX)}\r\n".encode() + on_terminal(project, FIX, b"y")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard")
    for line in Text.from_ansi(shown.decode().replace("\r\n", "\n").rstrip()).split():
        console.print(*line.divide(range(COLUMNS, len(line), COLUMNS)), sep="\n")
    form = FONTS.sub("", CONSOLE_SVG_FORMAT)
    picture = console.export_svg(title="fullgraph fix", code_format=form, unique_id="review")
    (folder / "review.svg").write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n")


def on_terminal(project: Path, command: list[str], key: bytes) -> bytes:
    """All that a command shows on a terminal where this key answers its one question: one that prints line by line."""
    colored = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(project)
        os.execve(
            FULLGRAPH, ["fullgraph", *command], {**colored, "TERM": "dumb", "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
        )
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    shown, is_answered = b"", False
    while data := read(terminal):
        shown += data
        if PROMPT in shown and not is_answered:
            os.write(terminal, key)
            is_answered = True
    os.waitpid(process, 0)
    os.close(terminal)
    return shown


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the command has ended
        return b""


# The report


def picture_report(project: Path, folder: Path) -> None:
    """The page from its top to the end of the change, in a project that is shown as the user's own."""
    chromium = find_chromium() or sys.exit("the picture of the report needs Chromium")
    report = project / "report.html"
    subprocess.run([FULLGRAPH, *PROVE, "--report", report], cwd=project, check=True, stdout=subprocess.DEVNULL)
    report.write_text(report.read_text().replace(str(project), "~/seedling"))
    browser = Browser(chromium)
    try:
        browser.open(report, PAGE_WIDTH, "light")
        height = browser.evaluate("document.querySelector('#v1-change').getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": PAGE_WIDTH, "height": height + 20, "scale": 1}
        shot = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    finally:
        browser.close()
    (folder / "report.png").write_bytes(base64.b64decode(shot["data"]))


PICTURES = {"review": picture_review, "report": picture_report}

if __name__ == "__main__":
    sys.exit(main())
