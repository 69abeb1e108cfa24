"""What a case prints, warns of and logs is heard, and the process is as before."""

from __future__ import annotations

import ctypes
import io
import logging
import os
import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.recording import listening
from fullgraph.validate.worker.recording.record import silenced
from tests.validate.recording import record

# Standard output


def test_all_ways_to_standard_output_are_heard_in_order() -> None:
    held = sys.stdout

    def speak() -> None:
        print("print")
        os.write(1, b"descriptor\n")
        sys.stdout.write("stream\n")
        sys.stdout.buffer.write(b"bytes\n")
        subprocess.run([sys.executable, "-S", "-c", "print('child')"], check=True)
        print("again", end="")

    assert record(speak)["stdout"] == "print\ndescriptor\nstream\nbytes\nchild\nagain"
    assert sys.stdout is held


C_BUFFER = ctypes.create_string_buffer(4096)
"""Stays as long as the process: C writes there for good."""


def test_what_c_code_holds_back_is_heard() -> None:
    library = ctypes.CDLL(None)
    library.setvbuf(ctypes.c_void_p.in_dll(library, "stdout"), C_BUFFER, 0, len(C_BUFFER))

    def speak() -> None:
        library.printf(b"from C\n")

    assert record(speak)["stdout"] == "from C\n"


def test_standard_output_is_put_back_whatever_the_case_does() -> None:
    def replace() -> None:
        sys.stdout = io.StringIO()
        print("into the dark")
        raise ValueError

    def close() -> None:
        sys.stdout.close()
        os.close(1)

    held, where = sys.stdout, os.fstat(1)
    assert record(replace)["stdout"] == ""
    record(close)
    assert (sys.stdout, os.fstat(1)) == (held, where)
    assert record(lambda: print("still heard"))["stdout"] == "still heard\n"


def test_a_stream_that_the_case_keeps_can_be_written_to_later() -> None:
    kept: list[Any] = []
    record(lambda: kept.append(sys.stdout))
    with silenced():
        kept[0].write("late")
    assert record(lambda: kept[0].write("later") and None)["stdout"] == "later"


def test_addresses_and_strange_bytes_in_what_is_printed_do_not_hurt() -> None:
    def speak() -> None:
        print(object(), hex(id(speak)), "\ud800")
        os.write(1, b"\xff\n")

    assert record(speak)["stdout"] == "<object object at 0x...> 0x... \\ud800\n\\xff\n"


# Warnings and logs


def warn_here(text: str) -> None:
    warnings.warn(text, stacklevel=1)


def test_a_warning_is_heard_every_time() -> None:
    def warn() -> None:
        for _ in range(2):
            warn_here("careful")

    for _ in range(2):
        found = record(warn)["warnings"]
        assert [line[:2] for line in found] == [["UserWarning", "careful"]] * 2
    assert found[0][2] == __file__


def test_what_the_process_has_silenced_is_heard() -> None:
    registry: dict[Any, Any] = {}

    def warn() -> None:
        warnings.warn_explicit("explicit", FutureWarning, "file.py", 1, registry=registry)
        warn_here("once")

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("once")
        warn()
        warnings.simplefilter("ignore")
        warn()
        assert [line[1] for line in record(warn)["warnings"]] == ["explicit", "once"]


def test_what_a_case_does_to_the_filters_ends_with_it() -> None:
    def tamper() -> None:
        with warnings.catch_warnings(record=True):
            warn_here("caught by the code itself")
        warn_here("heard")
        warnings.simplefilter("ignore")
        warn_here("silenced by the code itself")

    before = list(warnings.filters)
    for _ in range(2):
        assert [line[1] for line in record(tamper)["warnings"]] == ["heard"]
    assert list(warnings.filters) == before


def test_what_the_code_warns_of_once_is_heard_in_every_case() -> None:
    def warn() -> None:
        warnings.simplefilter("once")
        warn_here("only once")
        warn_here("only once")

    for _ in range(2):
        assert [line[1] for line in record(warn)["warnings"]] == ["only once"]


def test_a_warning_that_the_code_makes_an_error_is_an_exception() -> None:
    def strict() -> None:
        warnings.simplefilter("error")
        warn_here("too much")

    assert record(strict)["exception"][:2] == ["UserWarning", "too much"]


def test_reading_results_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = record(lambda: torch.ones(2, dtype=torch.complex32).to_sparse())
    assert not [line for line in found["warnings"] if "torch/_utils" in line[2]]


def test_log_records_that_pass_are_heard() -> None:
    logger = logging.getLogger("tests.record")
    logger.setLevel(logging.INFO)

    def log() -> None:
        logger.debug("not told")
        logger.info("loss %.1f", 0.25)
        logger.warning("bad %d", "format")

    assert [line[1:] for line in record(log)["logs"]] == [["INFO", "loss 0.2"], ["WARNING", "bad %d % ('format',)"]]


def test_a_part_of_torch_that_is_loaded_late_warns_nobody() -> None:
    body = "import warnings\nwarnings.warn('loaded')\ndef use():\n    warnings.warn('used')\n"
    code = compile(body, os.path.join(os.path.dirname(torch.__file__), "late.py"), "exec")

    def load_and_use() -> None:
        loaded: dict[str, Any] = {}
        exec(code, loaded)
        loaded["use"]()

    assert [line[1] for line in record(load_and_use)["warnings"]] == ["used"]


def test_what_is_printed_beyond_the_most_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LONGEST", 4)
    with listening.hear_streams() as heard:
        print("abcdefg", end="")
    assert heard == {"stdout": "abcd\n... and 3 bytes more", "stderr": ""}
    with listening.hear_streams() as heard:
        print("abcd", end="")
    assert heard["stdout"] == "abcd"


def test_files_that_are_left_open_are_no_warning_of_the_code() -> None:
    """When they are closed is up to the collector of garbage."""
    with listening.hear_warnings() as heard:
        warnings.warn("unclosed file", ResourceWarning, stacklevel=1)
        warnings.warn("slow", UserWarning, stacklevel=1)
    assert [line[:2] for line in heard] == [["UserWarning", "slow"]]
