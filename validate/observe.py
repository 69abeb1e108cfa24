"""Run the user's program once, as it is, and report what torch compiled and read back in it.

A folder on PYTHONPATH is all that the program sees of it. Every Python that it starts writes what it has seen into a
session folder, also while it runs; the report is made here, of all of them together.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullgraph.validate.capture import started
from fullgraph.validate.capture_problems import how_it_ended
from fullgraph.validate.capture_session import Session, session_beside
from fullgraph.validate.model import ValidateError
from fullgraph.validate.observe_merge import merge_entries, merge_files, merge_others, merge_reads
from fullgraph.validate.observe_timeline import make_timeline

SITE = Path(__file__).parent / "worker" / "observing" / "observe_site"
SCHEMA = 1
FORMAT = "fullgraph observed"
SECTIONS = {"entries": list, "reads": list, "files": dict, "processes": list, "notices": list, "command": list}


@dataclass(frozen=True)
class Observed:
    """A report, where it is kept, and how the program ended; a negative exit code is the signal that killed it."""

    file: Path
    report: dict[str, Any]
    exit_code: int


def observe(command: Sequence[str], root: Path, file: Path) -> Observed:
    """Run the command and write the report to `file`, in one step. Raises ValidateError if it cannot be started."""
    with session_beside(file) as session:
        began, start = time.time(), time.monotonic()
        with started(command, environment(session.folder, root)) as process:
            exit_code = process.wait()
        seconds = time.monotonic() - start
        told = read_processes(session.folder)
        report = make_report(session, told, command, root, exit_code)
        report["seconds"] = round(seconds, 3)
        report["timeline"] = make_timeline(told, start, seconds)
        for name in ("files", "others"):
            report[name] = add_hashes(report[name], root, began)
        write_whole(session.folder / "report", file, report)
    return Observed(file, report, exit_code)


def environment(session: Path, root: Path) -> dict[str, str]:
    """The user's own, with the way in."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH")])),
        "FULLGRAPH_OBSERVE": f"{os.path.abspath(session)}\n{os.path.realpath(root)}",
    }


def make_report(
    session: Session, told: Sequence[dict[str, Any]], command: Sequence[str], root: Path, exit_code: int
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "root": os.path.realpath(root),
        "command": list(command),
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "exit_code": exit_code,
        "ending": how_it_ended(exit_code),
        "torch": first_of(told, "torch"),
        "python": first_of(told, "python"),
        "device": device_of(told),
        "processes": sorted(map(describe_process, told), key=lambda one: (one["rank"], one["argv"], -one["calls"])),
        "entries": merge_entries(told, root),
        "reads": merge_reads(told, root),
        "files": merge_files(told, root),
        "others": merge_others(told, root),
        "notices": list_notices(session, told),
    }


def read_processes(folder: Path) -> list[dict[str, Any]]:
    """What every Python with torch has told, the first that was started first; not torch's own compiling workers."""
    told = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"), key=time_of)]
    return [one for one in told if "compile_worker" not in one["argv"][0]]


def time_of(file: Path) -> int:
    return int(file.stem.partition("-")[2])


def first_of(told: Sequence[dict[str, Any]], name: str) -> str:
    return next((one[name] for one in told), "")


def device_of(told: Sequence[dict[str, Any]]) -> str:
    named = [one["device"] for one in told]
    return next((name for name in named if name != "cpu"), named[0] if named else "")


def describe_process(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "argv": told["argv"],
        "rank": told["rank"],
        "is_forked": told["is_forked"],
        "is_whole": told["is_whole"],
        "calls": sum(entry["calls"] for entry in told["entries"]),
    }


def list_notices(session: Session, told: Sequence[dict[str, Any]]) -> list[str]:
    notices = []
    if not session.pythons("entered"):
        notices.append(
            "no Python could be watched: python -I, -E and -S shut fullgraph out, and so does whatever sets PYTHONPATH "
            "anew (write PYTHONPATH=src:$PYTHONPATH)"
        )
    elif not told:
        notices.append("torch was not imported")
    elif not any(one["entries"] for one in told):
        notices.append("nothing was compiled")
    if cut := sum(not one["is_whole"] for one in told):
        notices.append(f"{cut} of {len(told)} processes ended abruptly; what they did in the last seconds is missing")
    for fault in sorted(session.folder.glob("*.fault"))[:1]:
        last = fault.read_text("utf-8").strip().splitlines()[-1]
        notices.append(f"watching the program failed in part, and it went on: {last}")
    return notices


# Files


def add_hashes(files: dict[str, Any], root: Path, began: float) -> dict[str, Any]:
    """Every file with what it held; of one that was written while the program ran nobody knows which text ran."""
    return {
        name: {"sha256": hash_of(root / name) if written_before(root / name, began) else "", **ran}
        for name, ran in files.items()
    }


def hash_of(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def written_before(file: Path, moment: float) -> bool:
    try:
        return file.stat().st_mtime <= moment
    except OSError:
        return False


def write_whole(draft: Path, file: Path, report: dict[str, Any]) -> None:
    try:
        draft.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        os.replace(draft, file)
    except OSError as error:
        raise ValidateError(f"{file}: the report cannot be kept: {error.strerror}") from error


def read_report(file: Path, raw: bytes) -> dict[str, Any]:
    """A report as `observe` wrote it, of the bytes of its file. Raises ValidateError for anything else."""
    try:
        report = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValidateError(f"{file}: not JSON, or not whole: {error}") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise ValidateError(f"{file}: not a report of `fullgraph observe`")
    if not isinstance(report.get("schema"), int) or report["schema"] > SCHEMA:
        raise ValidateError(
            f"{file}: schema {report.get('schema')!r}; this fullgraph reads up to {SCHEMA}: update it, or observe anew"
        )
    wrong = [name for name, kind in SECTIONS.items() if not isinstance(report.get(name), kind)]
    if wrong:
        raise ValidateError(f"{file}: damaged: {', '.join(wrong)} missing or of another kind")
    return {"root": "", "others": {}, **report}
