"""A headless Chromium, driven through pipes by its own protocol, so that no driver is needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
START = "import os, sys; r, w, *c = sys.argv[1:]; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execv(c[0], c)"
"""Chromium reads its orders from descriptor 3 and answers on 4."""

PATIENCE = 180

OVERFLOWING = """
[...document.querySelectorAll("body *")].filter(one => !one.closest(".hidden, .skip, svg, thead, .long, pre"))
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 200))
"""
"""The elements that stick out of the window."""


def find_chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page in one browser. `events`: everything that the browser has told since the page was opened."""

    def __init__(self, chromium: str) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="fullgraph-chromium-", ignore_cleanup_errors=True)
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (orders, answers)]
        command = [sys.executable, "-c", START, *map(str, high), chromium, *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=high,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (orders, answers, *high):
            os.close(end)
        self.number = 0
        self.session = ""
        self.events: list[dict[str, Any]] = []
        self._read = b""
        self._attach()

    def _attach(self) -> None:
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **given: Any) -> Any:
        """One order and its answer; events that come in between are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.orders, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            is_ready, _, _ = select.select([self.answers], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self.answers, 1 << 20) if is_ready else b""
            assert data, "Chromium does not answer"
            self._read += data
        message, _, self._read = self._read.partition(b"\0")
        held: dict[str, Any] = json.loads(message)
        return held

    def open(self, file: Path, width: int, scheme: str, media: str = "screen") -> None:
        """Load a file as a screen, or a printer, of this width and colour scheme shows it."""
        self.events.clear()
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Page.navigate", url=file.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, whole: bool = True) -> bytes:
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors of the page: of its console, of its scripts, of what it was refused."""
        told = [event for event in self.events if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
        return [json.dumps(event["params"]) for event in told]

    @property
    def requests(self) -> list[str]:
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent]

    def close(self) -> None:
        """End the browser that was started here, and only that one."""
        try:
            self.session = ""
            self.ask("Browser.close")
        except (AssertionError, OSError):
            self.process.kill()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for end in (self.orders, self.answers):
            os.close(end)
        self.profile.cleanup()
