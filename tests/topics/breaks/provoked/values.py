"""Programs that ask for the values of tensors, or for shapes that depend on them."""

# mypy: ignore-errors

import torch
from torch.nn import functional as F  # noqa: N812 - everybody's name for it

from .kinds import advised, breaks


@breaks("GB0170")
def branch(x):
    return x + 1 if x.sum() > 0 else x - 1


@advised("branch")
def selected(x):
    return torch.where(x.sum() > 0, x + 1, x - 1)


@breaks("GB0124")
@advised("item", capture_scalar_outputs=True)
def item(x):
    return x * x.sum().item()


@breaks("GB0124")
@advised("item_as_size", capture_scalar_outputs=True)
def item_as_size(x):
    return x.sum() + torch.zeros(int((x > 0).sum())).sum()


@breaks("GB0033")
@advised("integers_to_a_list", capture_scalar_outputs=True)
def integers_to_a_list(x):
    return x + (x > 0).long().tolist()[0]


@breaks("GB0033")
def equal(x):
    return x * 2 if torch.equal(x, x + 1) else x * 3


@advised("equal")
def equal_in_the_graph(x):
    return torch.where((x == x + 1).all(), x * 2, x * 3)


@breaks("GB0109")
def floats_to_a_list(x):
    return x + x.tolist()[0]


@advised("floats_to_a_list")
def unbound(x):
    return x + x.unbind()[0]


@breaks("GB0036")
@advised("mask", capture_dynamic_output_shape_ops=True)
def mask(x):
    return x[x > 0].sum()


@breaks("GB0036")
@advised("nonzero", capture_dynamic_output_shape_ops=True)
def nonzero(x):
    return x[torch.nonzero(x > 0).squeeze(1)] * 2


@breaks("GB0036")
def least_squares(x):
    return torch.linalg.lstsq(x[:, None], x[:, None]).solution


@breaks("GB0246")
def one_hot(x):
    return F.one_hot(x.long().abs()) * 2


@advised("one_hot")
def one_hot_of_so_many(x):
    return F.one_hot(x.long().abs(), 9) * 2


@breaks("GB0207")
def python_sort(x):
    return x + sorted([x[0], x[1]])[0]


@advised("python_sort")
def sort(x):
    return x + torch.stack([x[0], x[1]]).sort().values[0]
