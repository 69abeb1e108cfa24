"""Runs first in every Python that user code starts during a proof; any version must be able to read it.

It lays the same files over the tree, takes its own folder off sys.path and then loads what Python would have loaded in
its place. If that is nothing, the ImportError is the answer that `site` expects. Without its overlay a Python would run
the wrong code, so it does not run at all.
"""

import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "_fullgraph_overlay"


def enter():  # type: ignore[no-untyped-def]
    package = type(sys)(PACKAGE)
    package.__path__ = [os.path.dirname(os.path.dirname(HERE))]
    sys.modules[PACKAGE] = package
    __import__(PACKAGE + ".process.overlay")
    sys.modules[PACKAGE + ".process.overlay"].inherit()


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
if "FULLGRAPH_OVERLAY" in os.environ and sys.version_info >= (3, 9):
    try:
        enter()  # type: ignore[no-untyped-call]
    except Exception:
        traceback.print_exc()
        os._exit(1)
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
