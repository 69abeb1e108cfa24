"""Programs about gradients, storage, other kinds of tensors, numpy, `torch.cond` and errors."""

# mypy: ignore-errors

import numpy as np
import torch
from torch import nn

from .kinds import advised, breaks

lstm = nn.LSTM(8, 8)
scripted = torch.jit.script(nn.Linear(8, 8))
constant, sparse = torch.ones(8), torch.eye(8).to_sparse()
calls = [0]


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.inner.register_full_backward_hook(lambda module, inputs, outputs: None)

    def forward(self, x):
        return self.inner(x)


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


hooked = Hooked()


@breaks("GB0125")
def requires_grad_of_a_global(x):
    constant.requires_grad_(True)
    return x * constant


@breaks("GB0206")
def requires_grad_set(x):
    y = x.detach() * 2
    y.requires_grad = True
    return y * 2


@breaks("GB8985")
def requires_grad_inside(x):
    y = x.detach() * 2
    y.requires_grad_()
    return y * 2


@breaks("GB0225")
def made_with_gradient(x):
    return torch.ones(8, requires_grad=True) * x


@breaks("GB0123")
@advised("backward", trace_autograd_ops=True)
def backward(x):
    (x * 2).sum().backward()
    return x.grad


@breaks("GB9186")
@advised("gradient", trace_autograd_ops=True)
def gradient(x):
    return torch.autograd.grad((x * 2).sum(), x)[0]


@breaks("GB0104")
def history(x):
    y = x * 2
    return y * (y.grad_fn is None)


@advised("history")
def requires_gradient(x):
    y = x * 2
    return y * (not y.requires_grad)


@breaks("GB0108")
def retained(x):
    y = x * 2
    y.retain_grad()
    return y.sum()


@breaks("GB0083")
def backward_hook(x):
    return hooked(x)


@breaks("GB2464,GB2019")
def dirty(x):
    return Dirty.apply(x * 1)


@breaks("GB0056")
def data(x):
    y = x.detach() * 1
    y.data = torch.zeros(8)
    return y * 2


@advised("data")
def copied(x):
    y = x.detach() * 1
    y.copy_(torch.zeros(8))
    return y * 2


@breaks("GB0126")
def resized(x):
    y = x.detach() * 1
    y.resize_(4)
    return y * 2


@breaks("GB0127")
def resized_as(x):
    y = x.detach() * 1
    y.resize_as_(torch.ones(3))
    return y * 2


@breaks("GB0107")
def random_integers(x):
    return x + torch.empty(8).random_()


@advised("random_integers")
def drawn_integers(x):
    return x + torch.randint(0, 9, (8,))


@breaks("GB0110")
def uniform(x):
    return x + torch.empty(8).uniform_(**{"from": 0.0, "to": 1.0})


@advised("uniform")
def uniform_by_position(x):
    return x + torch.empty(8).uniform_(0.0, 1.0)


@breaks("GB0015")
def sparse_product(x):
    return torch.sparse.mm(sparse, x[:, None])


@breaks("GB0277,GB0015")
def to_sparse(x):
    return x.to_sparse().sum() + x


@breaks("GB0090,GB0016")
def nested(x):
    return torch.nested.nested_tensor([x, x[:2]]).to_padded_tensor(0)


@breaks("GB0087")
def mkldnn(x):
    return x.detach().to_mkldnn().to_dense()


@breaks("GB0045")
def is_inference(x):
    return x + x.is_inference()


@breaks("GB0046")
def is_inference_mode(x):
    return x + torch.is_inference_mode_enabled()


@breaks("GB0264")
def parameter(x):
    return nn.Parameter(torch.ones(8)) * x


@breaks("GB0014")
@advised("recurrent", allow_rnn=True)
def recurrent(x):
    return lstm(x[None])[0]


@breaks("GB4695")
def script(x):
    return scripted(x) * 2


@breaks("GB0247")
def written_out(x):
    out = torch.empty(3)
    torch.add(x.detach(), 1, out=out)
    return out


@breaks("GB0294,GB0156")
def numpy_random(x):
    return x + float(np.random.default_rng(0).random())


@breaks("GB0250,GB0185")
def numpy_objects(x):
    return x + len(x.detach().numpy().astype(object))


@breaks("GB0157")
def numpy_attribute(x):
    return x + x.detach().numpy().flags.c_contiguous


@breaks("GB0158")
def numpy_method(x):
    return x + len(x.detach().numpy().tobytes())


@breaks("GB0040")
def cond_with_alias(x):
    return torch.cond(x.sum() > 0, lambda a: a, lambda a: a * 1, (x,))


@advised("cond_with_alias")
def cond_with_clone(x):
    return torch.cond(x.sum() > 0, lambda a: a.clone(), lambda a: a * 1, (x,))


@breaks("GB0041")
def cond_in_place(x):
    return torch.cond(x.sum() > 0, lambda a: a.add_(1) * 2, lambda a: a * 1, (x.detach(),))


@breaks("GB0067")
def cond_with_effect(x):
    kept = {}

    def keep(a):
        kept["a"] = a
        return a * 2

    return torch.cond(x.sum() > 0, keep, lambda a: a * 1, (x,))


@breaks("GB0314")
def cond_of_numbers(x):
    return torch.cond(x.sum() > 0, lambda a: 1.5, lambda a: 2.5, (x,))


@breaks("GB5173")
def two_devices(x):
    return x + torch.ones(8, device="meta")


@breaks("GB4315")
def wrong_shape(x):
    return x @ torch.ones(3)


@breaks("GB0039")
def counted(x):
    calls[0] += 1
    return x + calls[0]
