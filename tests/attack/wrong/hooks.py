"""Hooks: not called, called in another order, left behind, taken away."""

from tests.attack.bank import Rewrite, calls

HOOKS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.seen = []
        self.lin.register_forward_hook(lambda module, args, out: self.seen.append(float(out.detach().sum())))

    def forward(self, x):
        return self.lin(x) * 2

    def watch(self, x):
        handle = self.lin.register_forward_hook(lambda module, args, out: out + 1)
        y = self.lin(x)
        handle.remove()
        return y


class Weight(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []
        self.w = torch.nn.Parameter(torch.ones(3))
        self.w.register_post_accumulate_grad_hook(lambda p: self.seen.append(1))
        self.scale = lambda value: value * 2

    def forward(self, x):
        y = self.w * x
        return y


def scaled(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y.sum()


def param_hook(net, x):
    net.weight.register_hook(lambda grad: grad.clamp(max=0.1))
    return net(x).sum()


def prepare(net, x):
    net.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    return x + 1
"""
X = "torch.ones(1, 3)"


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, HOOKS, {old: new}, calls(f"module.{subject}", *(cases or (f"({X},)", f"({X} * 2,)"))))


ROWS = (
    Rewrite(
        "a hook of a parameter is not set",
        HOOKS,
        {"        self.w.register_post_accumulate_grad_hook(lambda p: self.seen.append(1))\n": ""},
        calls("module.Weight()", "(torch.ones(3),)"),
    ),
    Rewrite(
        "a parameter is replaced by an equal one",
        HOOKS,
        {"y = self.w * x": "self.w = torch.nn.Parameter(self.w.detach().clone()); y = self.w * x"},
        calls("module.Weight()", "(torch.ones(3),)"),
    ),
    Rewrite(
        "a lambda that nobody calls",
        HOOKS,
        {"lambda value: value * 2": "lambda value: value * 3"},
        calls("module.Weight()", "(torch.ones(3),)"),
    ),
    row("forward is called past the hooks", "return self.lin(x) * 2", "return self.lin.forward(x) * 2", "Net()"),
    row(
        "the functional form has no hooks",
        "return self.lin(x) * 2",
        "return torch.nn.functional.linear(x, self.lin.weight, self.lin.bias) * 2",
        "Net()",
    ),
    row("a hook is left behind", "        handle.remove()\n", "", "Net().watch"),
    row(
        "a tensor's hook is lost",
        "    y.register_hook(lambda grad: grad * 10)\n",
        "",
        "scaled",
        "(torch.ones(3).requires_grad_(),)",
    ),
    row(
        "a tensor's hook is on another tensor",
        "y.register_hook(",
        "y.sum().register_hook(",
        "scaled",
        "(torch.ones(3).requires_grad_(),)",
    ),
    row(
        "a parameter's hook is lost",
        "    net.weight.register_hook(lambda grad: grad.clamp(max=0.1))\n",
        "",
        "param_hook",
        f"(torch.nn.Linear(3, 3), {X})",
    ),
    row(
        "a hook of an argument is not registered",
        "    net.register_forward_pre_hook(lambda module, args: (args[0] * 2,))\n",
        "",
        "prepare",
        f"(torch.nn.Linear(3, 3), {X})",
    ),
    row(
        "a hook of an argument does something else",
        "args[0] * 2",
        "args[0] * 3",
        "prepare",
        f"(torch.nn.Linear(3, 3), {X})",
    ),
)
