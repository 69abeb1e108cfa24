"""One run as the journal tells it: a value, and its bytes.

An entry is a line with a mark and the run's seal, and then gzipped JSON. The mark is made of the key alone: of what
does not bear it only a little is read. The seal is looked at before anything is unpacked.
"""

from __future__ import annotations

import gzip
import hmac
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Finding
from fullgraph.codemods.rewrite.as_json import dump_finding, load_finding
from fullgraph.codemods.rewrite.folder import Folder
from fullgraph.codemods.rewrite.inside import parts_of
from fullgraph.codemods.rewrite.seal import is_sealed, mark_of, seal_of

HEAD = b"fullgraph run 3 "
WRITING, DONE, ROLLED_BACK = "writing", "done", "rolled back"
LARGEST = 1 << 28
LARGEST_FOREIGN = 1 << 20
"""How many bytes are unpacked: of a run that was written here, and of any other."""

Digests = Mapping[str, str]
"""The digest of each file's copy by the file's path; "" is no file there."""


@dataclass(frozen=True)
class Run:
    """One entry of the journal. `undoes` names the run, or the findings of a run, that an undo took back."""

    number: int
    kind: str
    started: str
    state: str
    before: Digests = field(default_factory=dict)
    after: Digests = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    undoes: tuple[str, ...] = ()
    command: int = 0
    """The first run of the command that made this one: what overlaps is written in a run of its own."""

    folders: tuple[str, ...] = ()
    """The folders that the run makes, or that it may leave empty; those that are empty in the end are not kept."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.after)

    @property
    def created(self) -> tuple[str, ...]:
        return tuple(path for path, digest in self.before.items() if not digest)

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(path for path, digest in self.after.items() if not digest)

    def finding_name(self, index: int) -> str:
        """`3.1` is the first finding of run 3."""
        return f"{self.number}.{index + 1}"


def dump_run(run: Run) -> bytes:
    held = {
        "kind": run.kind,
        "started": run.started,
        "state": run.state,
        "before": dict(run.before),
        "after": dict(run.after),
        "undoes": run.undoes,
        "command": run.command,
        "folders": run.folders,
        "findings": [dump_finding(finding) for finding in run.findings],
    }
    return pack(json.dumps(held).encode())


def load_run(number: int, payload: bytes, is_ours: bool) -> Run:
    """The inverse of `dump_run`. Of a run that was not written here, all but the findings, which nobody needs."""
    held = json.loads(unpack(payload, LARGEST if is_ours else LARGEST_FOREIGN))
    run = Run(
        number,
        kind=text(held["kind"]),
        started=text(held["started"]),
        state=text(held["state"]),
        before=digests(held["before"]),
        after=digests(held["after"]),
        findings=tuple(map(load_finding, held["findings"])) if is_ours else (),
        undoes=tuple(map(text, held["undoes"])),
        command=int(held["command"]),
        folders=tuple(map(text, held["folders"])),
    )
    if run.before.keys() != run.after.keys():
        raise ValueError("a file without a before or an after")
    for path in (*run.paths, *run.folders):
        parts_of(path)
    return run


def text(held: Any) -> str:
    if not isinstance(held, str):
        raise TypeError("not a text")
    return held


def digests(held: Any) -> Digests:
    found = {text(path): text(digest) for path, digest in held.items()}
    if not all(
        digest == "" or (len(digest) == 64 and digest.isalnum() and digest.isascii()) for digest in found.values()
    ):
        raise ValueError("not a digest")
    return found


def pack(data: bytes) -> bytes:
    """Packed, so that whoever searches the project finds its code only once; the same bytes for the same data."""
    return gzip.compress(data, compresslevel=1, mtime=0)


def unpack(packed: bytes, largest: int) -> bytes:
    """What was packed, unless it is more than so many bytes."""
    reader = zlib.decompressobj(wbits=31)
    data = reader.decompress(packed, largest)
    if not reader.eof:
        raise ValueError("incomplete, or too much to unpack")
    return data


def close_envelope(secret: bytes, root: Path, number: int, payload: bytes) -> bytes:
    return HEAD + mark_of(secret, root, number) + b" " + seal_of(secret, root, number, payload) + b"\n" + payload


def read_envelope(secret: bytes, root: Path, number: int, folder: Folder, name: str) -> tuple[bytes, bool]:
    """The payload of an entry, and whether this user wrote it here."""
    marked = HEAD + mark_of(secret, root, number) + b" "
    first = folder.read(name, len(marked))
    if not first.startswith(HEAD):
        raise ValueError("not an entry")
    is_marked = bool(secret) and hmac.compare_digest(first, marked)
    head, _, payload = folder.read(name, LARGEST if is_marked else LARGEST_FOREIGN).partition(b"\n")
    return payload, is_marked and is_sealed(secret, root, number, payload, head.removeprefix(marked))
