"""No-ops: the text of the code is another one, what it does is the same."""

from tests.attack.bank import Rewrite, calls

MODULE = """\
import torch

SCALE = 2.0


class Net(torch.nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.lin = torch.nn.Linear(3, width)
        self.register_buffer("seen", torch.zeros(()))
        self.steps = 0

    def forward(self, x):
        y = self.lin(x)
        self.seen += 1
        self.steps += 1
        if self.steps > 100:
            y = y * 0
        z = torch.relu(y)
        return z * SCALE

    def info(self):
        return {"steps": self.steps, "seen": float(self.seen)}


def report(x):
    print("sum", x.sum().item())
    return x + 1


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
"""
X = "(torch.arange(3.0).reshape(1, 3),)"
NET = calls("module.Net()", X, X)
COMPILED = calls("module.Net()", X, compiled=True)
INFO = '    def info(self):\n        return {"steps": self.steps, "seen": float(self.seen)}\n'
HEAD = "        y = self.lin(x)\n        self.seen += 1\n        self.steps += 1\n"


def row(name: str, changes: dict[str, str], scenario: str = NET) -> Rewrite:
    return Rewrite(name, MODULE, changes, scenario, "no-op")


ROWS = (
    row("a comment", {"        z = torch": "        # only what is positive\n        z = torch"}),
    row("a comment at the end of a line", {"z * SCALE\n": "z * SCALE  # twice\n"}),
    row("a docstring", {"    def forward(self, x):\n": '    def forward(self, x):\n        """Runs the net."""\n'}),
    row(
        "a local has another name",
        {"z = torch.relu(y)\n        return z": "out = torch.relu(y)\n        return out"},
        COMPILED,
    ),
    row(
        "independent lines change places",
        {HEAD: "        self.steps += 1\n        self.seen += 1\n        y = self.lin(x)\n"},
    ),
    row("written out", {"self.steps += 1": "self.steps = self.steps + 1"}),
    row("parentheses", {"return z * SCALE": "return (z) * (SCALE)"}),
    row("over several lines", {"z = torch.relu(y)": "z = torch.relu(\n            y,\n        )"}),
    row(
        "on one line",
        {"        if self.steps > 100:\n            y = y * 0\n": "        if self.steps > 100: y = y * 0\n"},
    ),
    row("an unused import", {"import torch\n\nSCALE": "import math\n\nimport torch\n\nSCALE"}),
    row(
        "an import with another name",
        {"import torch\n\nSCALE": "import torch\nimport torch as t\n\nSCALE", "torch.relu": "t.relu"},
    ),
    row("a helper that nobody calls", {"def report(x)": "def helper(x):\n    return x * 3\n\n\ndef report(x)"}),
    row(
        "a helper that is called",
        {
            "def report(x)": "def helper(x):\n    return torch.relu(x)\n\n\ndef report(x)",
            "z = torch.relu(y)": "z = helper(y)",
        },
        COMPILED,
    ),
    row("annotations", {"def forward(self, x):": "def forward(self, x: torch.Tensor) -> torch.Tensor:"}),
    row(
        "a constant by another name",
        {"SCALE = 2.0\n": "SCALE = 2.0\n_TWICE = SCALE\n", "return z * SCALE": "return z * _TWICE"},
    ),
    row("a method instead of a function", {"torch.relu(y)": "y.relu()"}, COMPILED),
    row("pass", {"        self.seen += 1\n": "        self.seen += 1\n        pass\n"}),
    row("an expression that does nothing", {"        self.seen += 1\n": "        self.seen += 1\n        None, 3\n"}),
    row("if True", {"        self.seen += 1\n": "        if True:\n            self.seen += 1\n"}),
    row(
        "an else",
        {"        return x + 1\n    return x - 1": "        return x + 1\n    else:\n        return x - 1"},
        calls("module.branch", X, "(-torch.ones(3),)"),
    ),
    row(
        "the condition turned",
        {
            "if x.sum() > 0:\n": "if not x.sum() > 0:\n        return x - 1\n",
            "        return x + 1\n    return x - 1": "    return x + 1",
        },
        calls("module.branch", X, "(-torch.ones(3),)", compiled=True),
    ),
    row(
        "an f-string",
        {'print("sum", x.sum().item())': 'print(f"sum {x.sum().item()}")'},
        calls("module.report", X),
    ),
    row(
        "methods change places",
        {
            INFO: "",
            "    def forward": f"{INFO}\n    def forward",
            "z * SCALE": "(z * SCALE)",
        },
    ),
    row("quotes and raw texts", {'print("sum", x': "print(r'sum', x"}, calls("module.report", X, compiled=True)),
    row("plus nothing", {"z = torch.relu(y)": "z = torch.relu(y) + 0"}, COMPILED),
    row("times one", {"z = torch.relu(y)": "z = torch.relu(y) * 1"}),
)
