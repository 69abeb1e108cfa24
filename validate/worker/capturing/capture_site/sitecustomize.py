"""Runs first in every Python that a captured program starts, by way of PYTHONPATH; any version must be able to read it.

It takes its own folder off sys.path and then loads what Python would have loaded in its place. If that is nothing, the
ImportError is the answer that `site` expects.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "_fullgraph_worker"


def enter():  # type: ignore[no-untyped-def]
    package = type(sys)(PACKAGE)
    package.__path__ = [os.path.dirname(os.path.dirname(HERE))]
    sys.modules[PACKAGE] = package
    __import__(PACKAGE + ".capturing.capture")
    sys.modules[PACKAGE + ".capturing.capture"].enter(os.environ["FULLGRAPH_CAPTURE"])


def tell_version():  # type: ignore[no-untyped-def]
    session = os.environ["FULLGRAPH_CAPTURE"].split("\n")[0]
    with open(os.path.join(session, "%d.old" % os.getpid()), "w") as file:  # noqa: UP031
        file.write(sys.executable + "\n" + sys.version.split()[0])


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
try:
    if "FULLGRAPH_CAPTURE" in os.environ:
        if sys.version_info >= (3, 9):  # noqa: UP036
            enter()  # type: ignore[no-untyped-call]
        else:
            tell_version()
except Exception:  # the program runs as if nobody were watching
    pass
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
