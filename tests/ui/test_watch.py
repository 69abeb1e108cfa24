"""`check --watch`."""

from __future__ import annotations

from pathlib import Path

from tests.ui.running import Terminal


def test_a_change_is_checked_again_and_ctrl_c_ends_it(project: Path) -> None:
    terminal = Terminal(project, "check", "--watch", "--format", "concise", "pkg")
    terminal.expect("Watching for changes; Ctrl-C ends.")
    assert "pkg/b.py:6:5: call_fast" in terminal.screen
    (project / "pkg" / "b.py").write_text("x = 1\nslow()\n")
    terminal.expect("Changed: pkg/b.py")
    terminal.expect("pkg/b.py:2:1: call_fast")
    terminal.expect("Next: ", 2)
    terminal.press("\x03")
    assert terminal.end() == 0
    assert "stopped" not in terminal.screen
