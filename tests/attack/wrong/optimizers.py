"""What training changes beside the loss: parameters, moments, rates, averages."""

from tests.attack.bank import Rewrite, calls

TRAINING = """\
import copy

import torch


class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        self.net = torch.nn.Linear(3, 2)
        self.best = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.1, weight_decay=0.01)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        self.best_loss = float("inf")

    def step(self, x):
        self.optimizer.zero_grad(set_to_none=True)
        loss = (self.net(x) - 1).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        self.scheduler.step()
        if loss < self.best_loss:
            self.best_loss = loss.item()
            self.best.load_state_dict(self.net.state_dict())
        return loss.detach()

    def reset(self, x):
        self.step(x)
        self.optimizer.state.clear()
        return torch.zeros(())
"""
STEPS = calls("module.Trainer().step", "(torch.ones(4, 3),)", "(torch.ones(2, 3) * 2,)")
CLIP = "        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)\n"

ROWS = (
    Rewrite("the schedule stands still", TRAINING, {"        self.scheduler.step()\n": ""}, STEPS),
    Rewrite(
        "the schedule goes on before the step",
        TRAINING,
        {
            "        self.optimizer.step()\n": "",
            "        self.scheduler.step()\n": "        self.scheduler.step()\n        self.optimizer.step()\n",
        },
        calls("module.Trainer().step", *["(torch.ones(4, 3),)"] * 3),
    ),
    Rewrite("gradients are not clipped", TRAINING, {CLIP: ""}, STEPS),
    Rewrite("gradients add up", TRAINING, {"        self.optimizer.zero_grad(set_to_none=True)\n": ""}, STEPS),
    Rewrite(
        "the best net is the current net",
        TRAINING,
        {"self.best.load_state_dict(self.net.state_dict())": "self.best = self.net"},
        STEPS,
    ),
    Rewrite("no weight decay", TRAINING, {", weight_decay=0.01": ""}, STEPS),
    Rewrite(
        "moments are kept",
        TRAINING,
        {"        self.optimizer.state.clear()\n": ""},
        calls("module.Trainer().reset", "(torch.ones(4, 3),)"),
    ),
    Rewrite(
        "the rate decays by itself",
        TRAINING,
        {"return loss.detach()": 'self.optimizer.param_groups[0]["lr"] *= 0.99; return loss.detach()'},
        calls("module.Trainer().step", "(torch.ones(4, 3),)"),
    ),
)
