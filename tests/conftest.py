"""What tests measure on the way is said at the end of the run, also when it was spread over processes."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from which_tests import ROOT, STAMP, chosen

import fullgraph.validate.launch
from tests.chosen import is_chosen
from tests.zygote import TORCH

START = fullgraph.validate.launch.start
VALIDATOR_TESTS = ROOT / "tests" / "validate"
SEES_CODEMODS = re.compile(r"\b(codemods|capturing|fixtures|FIXTURES)\b")

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
"""What passes today passes tomorrow. `pytest --hypothesis-profile default` looks for what nobody has tried yet."""


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Hundreds of processes import the same modules: compiling them each time is half of what a short command takes."""

sys.dont_write_bytecode = True
"""But modules that tests write twice within a second are compiled each time in this process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true", help="every proof again, and all of torch's own code")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is marked `everything` is for `make test-all`; so is all but a tenth of what is known since the last one."""
    if not config.getoption("--everything"):
        is_known = chosen(ROOT, STAMP) == "test"
        left_out = {item for item in items if item.get_closest_marker("everything")}
        left_out |= {
            item for item in items if is_known and rests_on_validator(item.path) and not is_chosen(item.nodeid)
        }
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@cache
def rests_on_validator(file: Path) -> bool:
    """Whether tests can only come out otherwise if the validator does: they see nothing of the codemods."""
    return file.parent == VALIDATOR_TESTS and not SEES_CODEMODS.search(file.read_text())


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether nothing is to be taken as known."""
    return bool(pytestconfig.getoption("--everything"))


@pytest.fixture(scope="session", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user's own folders are not filled with projects that are gone after the test."""
    os.environ.setdefault("FULLGRAPH_CACHE", str(tmp_path_factory.mktemp("cache")))
    os.environ.setdefault("FULLGRAPH_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.fixture(scope="session", autouse=True)
def forking() -> Iterator[None]:
    """Workers of proofs are forked from a process that has imported torch, started with the first of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fullgraph.validate.launch, "start", TORCH.start)
        yield
    TORCH.end()


@pytest.fixture(autouse=True)
def starting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is marked as one about `processes` has workers that are started as users have them."""
    if request.node.get_closest_marker("processes"):
        monkeypatch.setattr(fullgraph.validate.launch, "start", START)


def pytest_configure() -> None:
    """A shell lets what it runs in the background ignore Ctrl-C, and commands that tests stop would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
