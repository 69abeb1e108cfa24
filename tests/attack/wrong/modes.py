"""Train and eval, and the switches that a call leaves behind."""

from tests.attack.bank import Rewrite, calls

MODES = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(x))

    def evaluate(self, x):
        was_training = self.training
        self.eval()
        try:
            return self.norm(x)
        finally:
            self.train(was_training)

    def functional(self, x):
        return torch.nn.functional.dropout(x, 0.5, self.training)

    def warm(self, x):
        self.norm.eval()
        return self.norm(x)
"""
X = "(torch.arange(12.0).reshape(4, 3),)"


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, MODES, {old: new}, calls(subject, X, X))


ROWS = (
    row(
        "the net stays in eval mode",
        "            self.train(was_training)\n",
        "            pass\n",
        "module.Net().evaluate",
    ),
    row("the net ends in train mode", "self.train(was_training)", "self.train()", "module.Net().eval().evaluate"),
    row("dropout in eval mode, too", ", 0.5, self.training)", ", 0.5)", "module.Net().eval().functional"),
    row(
        "running means are not updated",
        "        return self.drop(self.norm(x))",
        "        self.norm.momentum = 0.0\n        return self.drop(self.norm(x))",
        "module.Net()",
    ),
    row("batches are normed by themselves", "        self.eval()\n", "", "module.Net().evaluate"),
    row("one layer's mode only", "        self.norm.eval()\n", "        self.eval()\n", "module.Net().warm"),
)
