"""Runs first in every Python that an observed program starts, by way of PYTHONPATH; any version must read it.

It takes its own folder off sys.path and then loads what Python would have loaded in its place. If that is nothing, the
ImportError is the answer that `site` expects.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "_fullgraph_observing"


def enter():  # type: ignore[no-untyped-def]
    package = type(sys)(PACKAGE)
    package.__path__ = [os.path.dirname(os.path.dirname(HERE))]
    sys.modules[PACKAGE] = package
    __import__(PACKAGE + ".observing.process")
    sys.modules[PACKAGE + ".observing.process"].enter(os.environ["FULLGRAPH_OBSERVE"])


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
try:
    if "FULLGRAPH_OBSERVE" in os.environ and sys.version_info >= (3, 9):
        enter()  # type: ignore[no-untyped-call]
except Exception:  # the program runs as if nobody were watching
    pass
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
