"""Child processes and threads that a program starts."""

from tests.attack.bank import Rewrite, calls

STARTING = """\
import os
import subprocess
import sys
import threading
import time

import torch


def notify(x):
    subprocess.run(["true", str(len(x))], check=True)
    return x + 1


def shell(x):
    os.system(f"exit {len(x)}")
    return x + 1


def background(x):
    subprocess.Popen([sys.executable, "-c", "pass"]).wait()
    return x + 1


def watch(x):
    threading.Thread(target=time.sleep, args=(1.0,), name="watcher", daemon=True).start()
    return x + 1

"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, STARTING, {old: new}, calls(f"module.{subject}", "(torch.ones(3),)"))


ROWS = (
    row("a command is not run", '    subprocess.run(["true", str(len(x))], check=True)\n', "", "notify"),
    row("a command gets another argument", "str(len(x))", "str(len(x) + 1)", "notify"),
    row("a shell's command is another one", "exit {len(x)}", "exit 0", "shell"),
    row(
        "a background process is not started",
        '    subprocess.Popen([sys.executable, "-c", "pass"]).wait()\n',
        "",
        "background",
    ),
    row("a thread is not started", ", daemon=True).start()", ", daemon=True)", "watch"),
)
