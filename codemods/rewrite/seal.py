"""What tells a run that this user wrote here from one that came with the project: a key that is not in the project.

A secret of 32 bytes lies in the user's state folder. The seal of a run is made of it, the run's number, the real path
of the project's root and every byte of the entry, which holds the digests of all copies.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.atomic import create_file
from fullgraph.codemods.rewrite.folder import BarredError, Folder

NAME = "secret"
SIZE = 32


def state_folder() -> Path:
    """The user's state folder; `FULLGRAPH_STATE` names another."""
    if named := os.environ.get("FULLGRAPH_STATE"):
        return Path(named).absolute()
    import platformdirs

    return Path(platformdirs.user_state_dir("fullgraph", appauthor=False))


def read_secret() -> bytes:
    """The secret; nothing if there is none that can be read."""
    try:
        with Folder.at(state_folder()) as folder:
            secret = folder.read(NAME, SIZE + 1)
    except (OSError, BarredError):
        return b""
    return secret if len(secret) == SIZE else b""


def make_secret() -> bytes:
    """The secret, made if there is none yet: without one, nothing that is written could be recovered or undone."""
    place = state_folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        with Folder.at(place) as folder:
            if folder.plain(NAME) is None:
                create_secret(folder)
    except (OSError, BarredError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise FullgraphError(f"{refusal(place)}: {said}; nothing was written") from error
    if not (secret := read_secret()):
        raise FullgraphError(f"{refusal(place)}: {place / NAME} is damaged: remove it; nothing was written")
    return secret


def create_secret(folder: Folder) -> None:
    try:
        create_file(folder, NAME, secrets.token_bytes(SIZE), mode=0o600)
    except FileExistsError:  # another process was quicker
        return


def refusal(place: Path) -> str:
    return f"{place} cannot keep the key of what is written (FULLGRAPH_STATE names another folder)"


def seal_of(secret: bytes, root: Path, number: int, payload: bytes) -> bytes:
    return hmac.new(secret, about(b"run", root, number) + payload, hashlib.sha256).hexdigest().encode()


def mark_of(secret: bytes, root: Path, number: int) -> bytes:
    """What only whoever has the secret can put at the head of an entry."""
    return hmac.new(secret, about(b"mark", root, number), hashlib.sha256).hexdigest()[:16].encode()


def about(what: bytes, root: Path, number: int) -> bytes:
    home = os.fsencode(os.path.normcase(os.path.realpath(root)))
    return b"fullgraph %s\0%d\0%s\0" % (what, number, home)


def is_sealed(secret: bytes, root: Path, number: int, payload: bytes, seal: bytes) -> bool:
    return bool(secret) and hmac.compare_digest(seal_of(secret, root, number, payload), seal)
