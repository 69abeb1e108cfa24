"""The key of a proof: the validator's own code is part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.validate import key
from fullgraph.validate.key import fingerprint, key_of


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.parametrize(
    "other",
    [{"a.py": "2", "b/c.txt": "1"}, {"a.py": "1", "b/c.txt": "2"}, {"a.py": "1", "b/d.txt": "1"}, {"a.py": "1"}],
    ids=["text", "data", "name", "missing"],
)
def test_every_file_of_a_folder_counts(other: dict[str, str], tmp_path: Path) -> None:
    known = fingerprint(write(tmp_path / "one", {"a.py": "1", "b/c.txt": "1"}))
    assert fingerprint(write(tmp_path / "two", other)) != known


def test_byte_code_and_the_place_of_the_folder_do_not_count(tmp_path: Path) -> None:
    one = write(tmp_path / "one", {"a.py": "1"})
    assert fingerprint(one) == fingerprint(write(tmp_path / "two", {"a.py": "1", "__pycache__/a.pyc": "2"}))


def test_another_validator_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    now = key_of(({}, {}), b"", {})
    monkeypatch.setattr(key, "validator", lambda: "other")
    assert key_of(({}, {}), b"", {}) != now


def test_a_file_that_is_not_there_is_not_an_empty_one() -> None:
    assert key_of(({"a": None}, {}), b"", {}) != key_of(({"a": b""}, {}), b"", {})


def test_bytes_do_not_move_from_one_file_to_the_next() -> None:
    assert key_of(({"a": b"xb\x001\x00y"}, {}), b"", {}) != key_of(({"a": b"x", "b": b"y"}, {}), b"", {})
