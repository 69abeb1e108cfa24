"""The words of generated programs: tensors, questions about them, messages and calls. The simplest stand first.

`<a>` and `<b>` stand for tensors that are bound, `<k>` for a Python number, `<c>` and `<d>` for other questions.
"""

from __future__ import annotations

HEAD = """\
import functools
import logging
import warnings

import torch
import torch.nn.functional as F
from torch import nn


@functools.lru_cache(None)
def warning_once(self, *args):
    self.warning(*args)


logging.Logger.warning_once = warning_once
logger = logging.getLogger(__name__)
seen = []
"""
CLASS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.register_buffer("buf", torch.ones(3))
        self.shown = self.buf
        self.count = 0
"""
VALUES = (
    *("<a> * 2", "<a> + 1", "<a> - 1", "<a> + <b>", "<a> * <b>", "-<a>", "<a> / 2", "<a>.relu()", "torch.relu(<a>)"),
    *("<a>.abs()", "<a>.clamp(max=2.0)", "torch.clamp(<a>, min=-1.0, max=1.0)", "<a>.tanh()", "<a>.clone()"),
    *("torch.zeros_like(<a>)", "torch.where(<a> > 0, <a>, 0.0)", "<a>.softmax(-1)", "<a> - <a>.mean()"),
    *("<a>.sqrt()", "<a>.log()", "1 / <a>", "<a> / <b>", "<a> / <a>.sum()", "<a> ** 0.5", "<a>.norm()", "<a>.exp()"),
    *("<a>", "<a>[:2]", "<a>.view(-1)", "<a>.t()", "<a>.detach()", "<a>[:1]", "<a>[0]", "<a>.unsqueeze(0)"),
    *("<a>.sum()", "<a>.mean(0, keepdim=True)", "<a>.long()", "<a>.double()", "<a>.half()", "<a> > 0", "<a> // 2"),
    *("<a> + torch.rand(3)", "F.dropout(<a>, 0.5)", "torch.rand_like(<a>)", "<a> * <k>", "<a> / (<k> + 1)"),
    *("<a>[<a> > 0].sum()", "<a>[<a> > 0].mean()", "<a>[<a> > 0]", "<a>.nonzero()", "<a>.nan_to_num()"),
    *("<a>.masked_fill(<a> < 0, 0.0)", "torch.cat([<a>.view(-1), <b>.view(-1)])", "<a> if flag else <b>"),
    *("<a> * 2 if <c> else <a> - 1", "(<a> + 1 if <c> else <b>)", "<a> * float(<b>.mean())", "<a> * <b>.max().item()"),
    *("<a>[int(<a>.argmax())]", "torch.full_like(<a>, 2.0)", "torch.tensor(2.0)", "torch.ones(3)", "<a> @ <a>"),
)
PLAIN_VALUES = (
    *("<a> * 2", "<a> + 1", "<a> - 1", "<a> + <b>", "<a> * <b>", "-<a>", "<a> / 2", "<a>.relu()", "torch.relu(<a>)"),
    *("<a>.abs()", "<a>.clamp(max=2.0)", "<a>.tanh()", "<a>.clone()", "torch.zeros_like(<a>)", "<a>", "<a>.sqrt()"),
    *("<a> - <a>.mean()", "<a>.log()", "1 / <a>", "<a> / <b>", "<a> / <a>.sum()", "<a> - <a>.max()", "<a>.exp()"),
    *("<a>.masked_fill(<b> < 0, 0.0)", "<a>.masked_fill(<a> > 1, float('-inf'))", "<a> / <a>.norm()", "<a>.detach()"),
    *("<a> * <k>", "<a>.float()", "2 - <a>", "<a> ** 2", "<a>.max() + <b>", "<a> * 0", "<a> ** <b>"),
)
"""What a side of a branch may be made of for both to be computed, or nearly."""

PLAIN_QUESTIONS = (
    *("<a>.sum() > 0", "<a>.max() > 1.5", "(<a> > 0).all()", "(<a> > 0).any()", "<a>.min() <= 0", "<a>.norm() > 2"),
    *("torch.isnan(<a>).any()", "<a>.sum()", "(<a> > 0).sum()", "not <c>", "<c> and <d>", "<c> or <d>", "flag or <c>"),
    *("flag and <c>", "0 < <a>.mean() < 2", "<a>.mean() < <b>.mean()", "<a>.sum().item() > 0", "<a>.max().item() > 1"),
    *("opt is not None and opt.any()", "<a>.abs().max() > <k>", "not <a>.any()", "<a>.any() and <b>.max() > 0"),
)
PLAIN_RESULTS = ("<a>", "<a> + 1", "<a>, <b>", "<a> * 2, <b> - 1", "<a> - <b>", "(<a> * <b>,)", "<a> * 3, <b>.relu()")
OF_A_MODULE = ("self.lin(<a>)", "<a> * self.buf", "self.buf", "<a> * self.count", "self.shown + <a>")
OF_A_HELPER = ("helper(<a>)",)
QUESTIONS = (
    *("<a>.sum() > 0", "<a>.max() > 1.5", "<a>.mean() < <b>.mean()", "torch.isnan(<a>).any()", "(<a> > 0).all()"),
    *("(<a> > 0).any()", "<a>.min() <= 0", "<a>.norm() > 2", "torch.isinf(<a>).any() or torch.isnan(<a>).any()"),
    *("not <c>", "<c> and <d>", "<c> or <d>", "flag and <c>", "flag or <c>", "opt is not None and opt.any()"),
    *(
        "<a>.dtype == torch.float16 and torch.isinf(<a>).any()",
        "0 < <a>.mean() < 2",
        "<a>.sum()",
        "bool(<a>.sum() > 0)",
    ),
    *("<a>.sum().item() > 0", "<a>.abs().max() > <k>", "flag", "<a>.shape[0] > 2", "opt is None", "<a> > 0", "opt"),
    *("<a>.sum() != 0", "(m := <a>.max()) > 1", "not <a>.any()", "<k> > 1", "<a>.is_floating_point() and <c>"),
)
MESSAGES = (
    *('print("told")', 'logger.info("told")', 'warnings.warn("told")', 'logger.warning_once("once")'),
    *('logger.info("shape %s", tuple(<a>.shape))', 'print("rows", <a>.shape)', 'logger.warning(f"of {<a>.dtype}")'),
    *('print("sum", <a>.sum().item())', 'logger.info("mean %s", <a>.detach().mean())', 'print(f"{<a>.sum():.2f}")'),
    *('logger.debug("100%% of %s", <k>)', 'warnings.warn("old", FutureWarning)', 'logger.info("%s", <a>.detach())'),
    *('print("a", "b", sep="-", end=";\\n")', 'logger.warning_once("rows %s", <a>.shape)', 'logger.info("{} %%")'),
)
CHECKS = (
    *('raise ValueError("refused")', 'raise ValueError(f"refused {<a>.shape}")', 'raise RuntimeError("100% {}")'),
    *(
        'raise ValueError(f"sum {<a>.sum().item()}")',
        "raise KeyError('k')",
        "raise ValueError",
        "raise TypeError('t', 1)",
    ),
)
NUMBERS = ("<a>.sum().item()", "float(<a>.mean())", "int(<a>.sum())", "<a>.shape[0]", "<a>.max().item()", "<a>.numel()")
WRITES = (
    *("<a> += 1", "<a> = <a> * 2", "<a> += <b>", "<a> *= 2", "<a>.add_(1)", "<a>.mul_(2)", "<a>[0] = 1.0", "x.add_(1)"),
    *("<a>[<a> < 0] = 0.0", "<a>.clamp_(min=0)", "seen.append(1)", "<a>, <b> = <b>, <a>", "<a>.relu_()", "<a> -= <b>"),
)
WRITES_OF_A_MODULE = ("self.count += 1", "self.buf.add_(1)", "self.buf = self.buf * 2", "self.buf += <a>.detach()")
RESULTS = ("<a>", "<a>, <b>", "<a> + 1", "(<a> * 2, <k>)", "{'a': <a>, 'b': <b> * 2}", "<a>.sum()", "None", "[<a>]")

POSITIVE = "torch.tensor([1.0, 2.0, 3.0])"
NEGATIVE = "torch.tensor([-1.0, -2.0, 0.5])"
FIRST_CALLS = (
    f"{POSITIVE}.requires_grad_() * 1, torch.tensor([0.5, -1.0, 2.0])",
    f"{NEGATIVE}.requires_grad_() * 1, torch.tensor([0.5, -1.0, 2.0]).requires_grad_() * 1",
)
MORE_CALLS = (
    f"{POSITIVE}, {NEGATIVE}, flag=True",
    f"{NEGATIVE}, {POSITIVE}, torch.tensor([True, False, True])",
    "torch.zeros(3).requires_grad_() * 1, torch.ones(3)",
    "torch.tensor([1.0, float('nan'), 2.0]), torch.ones(3), flag=True",
    "torch.tensor([float('inf'), 1.0, -1.0]).half(), torch.ones(3).half()",
    f"{POSITIVE}.double(), {NEGATIVE}",
    f"{NEGATIVE}, torch.tensor(2.0), torch.zeros(3, dtype=torch.bool)",
    f"{POSITIVE}, torch.tensor([2.0])",
    "torch.tensor([1, -2, 3]), torch.tensor([1, 1, 1]), flag=True",
    "torch.tensor([-0.0, -0.0, 0.0]), torch.zeros(3)",
    "torch.ones(3, 3), torch.ones(3)",
    "torch.ones(1), -torch.ones(1)",
)
