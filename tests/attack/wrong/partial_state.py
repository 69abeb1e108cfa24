"""What a functools.partial holds is state of the program."""

from tests.attack.bank import Rewrite, calls

TRAIN = """\
import torch


def make():
    torch.manual_seed(0)
    return torch.nn.Linear(4, 2)


def step(model, optimizer, log, x):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.append(loss.item())
    return loss.detach()


def double(model, x):
    with torch.no_grad():
        model.bias.mul_(0.5)
    return x * 2


def remember(seen, x):
    seen["last"] = x.sum().item()
    seen.setdefault("count", 0)
    seen["count"] += 1
    return x + 1
"""
MORE = """\

def trainer():
    model = module.make()
    return functools.partial(module.step, model, torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9), [])
"""
ONCE = calls("trainer()", "(torch.ones(3, 4),)", more=MORE)

ROWS = (
    Rewrite("the optimizer's step is lost", TRAIN, {"    optimizer.step()\n": ""}, ONCE),
    Rewrite("the log that a partial holds is not written", TRAIN, {"    log.append(loss.item())\n": ""}, ONCE),
    Rewrite(
        "gradients are left behind in the model",
        TRAIN,
        {"optimizer.zero_grad()": "optimizer.zero_grad(); loss = loss * 1.0; loss.backward(retain_graph=True)"},
        ONCE,
    ),
    Rewrite(
        "a buffer of a model that the output does not need",
        TRAIN,
        {"model.bias.mul_(0.5)": "model.bias.mul(0.5)"},
        calls("functools.partial(module.double, module.make())", "(torch.ones(3),)"),
    ),
    Rewrite(
        "a dict that a partial holds",
        TRAIN,
        {'seen["count"] += 1': 'seen["count"] = 0'},
        calls("functools.partial(module.remember, {})", "(torch.ones(3),)", "(torch.ones(2),)"),
    ),
    Rewrite(
        "a partial of a partial",
        TRAIN,
        {"    log.append(loss.item())\n": "    log.append(0.0)\n"},
        calls(
            "functools.partial(functools.partial(trainer().func, *trainer().args))", "(torch.ones(3, 4),)", more=MORE
        ),
    ),
)
