"""Values that need nothing but a name: numbers, texts, what torch brings along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullgraph.validate.drafting import names
from fullgraph.validate.drafting.evaluate import UNKNOWN

if TYPE_CHECKING:
    from fullgraph.validate.drafting.values import Guesser


@dataclass(frozen=True)
class Value:
    """`text` makes it; `worth` is what it is, for whoever reads on; `guess` says what was guessed."""

    text: str
    worth: Any = UNKNOWN
    guess: str = ""
    is_module: bool = False


def quoted(value: Any) -> str:
    """A plain value as code, with double quotes."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text


def dict_text(keys: list[Any], text: str) -> str:
    """A comprehension where it is shorter."""
    shown = [f'"{key}"' if isinstance(key, str) else str(key) for key in keys]
    if len(keys) < 3:
        return f"{{{', '.join(f'{key}: {text}' for key in shown)}}}"
    return f"{{key: {text} for key in ({', '.join(shown)})}}"


def make_int(guesser: Guesser, name: str) -> Value:
    number = names.size_for(name) if guesser.is_constructor else names.integer_for(name)
    limit = guesser.limits.get(name)
    number = min(number, limit - 1) if limit else number
    return Value(str(number), number, f"`{name}`")


def make_float(guesser: Guesser, name: str) -> Value:
    number = names.number_for(name)
    return Value(str(number), number, f"`{name}`")


def make_text(guesser: Guesser, name: str) -> Value:
    return Value(f'"{name}"', name, f"`{name}`")


def fixed(text: str, worth: Any = UNKNOWN, is_guess: bool = False) -> Callable[[Guesser, str], Value]:
    return lambda guesser, name: Value(text, worth, f"`{name}`" if is_guess else "")


def make_callable(guesser: Guesser, name: str) -> Value:
    is_loss = "loss" in name or "criterion" in name
    return Value("torch.nn.functional.mse_loss" if is_loss else "torch.relu", UNKNOWN, f"`{name}`")


def make_model(guesser: Guesser, name: str) -> Value:
    return guesser.torch_module(name)


def make_generator(guesser: Guesser, name: str) -> Value:
    return Value("torch.Generator().manual_seed(0)" if guesser.in_build else "generator")


def make_optimizer(guesser: Guesser, name: str) -> Value:
    """For the parameters of the model beside it; the composer puts the model's name in."""
    return Value("torch.optim.SGD({model}.parameters(), lr=0.01)", UNKNOWN, f"`{name}`")


SIMPLE: dict[str, Callable[[Guesser, str], Value]] = {
    "int": make_int,
    "float": make_float,
    "bool": fixed("False", False),
    "str": make_text,
    "list": fixed("[]", [], True),
    "tuple": fixed("()", (), True),
    "dict": fixed("{}", {}, True),
    "torch.device": fixed("device"),
    "torch.dtype": fixed("torch.float32"),
    "torch.Size": fixed("torch.Size([8])", [8], True),
    "torch.Generator": make_generator,
    "torch.nn.Module": make_model,
    "torch.optim.Optimizer": make_optimizer,
    "Optimizer": make_optimizer,
    "Callable": make_callable,
    "type": fixed("torch.nn.ReLU", UNKNOWN, True),
    "Type": fixed("torch.nn.ReLU", UNKNOWN, True),
    "ndarray": fixed("torch.randn(4, 8).numpy()", UNKNOWN, True),
    "GradScaler": fixed("torch.amp.GradScaler(enabled=False)"),
    "Path": fixed('"."', ".", True),
}
NAMED: tuple[tuple[set[str], Callable[[Guesser, str], Value]], ...] = (
    ({"model", "net", "network", "module", "policy", "backbone", "encoder", "decoder", "actor", "critic"}, make_model),
    ({"optimizer", "optim", "opt"}, make_optimizer),
    ({"criterion", "loss_fn", "loss_func", "activation", "act", "fn", "func", "f"}, make_callable),
    ({"generator", "rng"}, make_generator),
    ({"act_layer", "norm_layer", "activation_layer"}, fixed("torch.nn.ReLU", UNKNOWN, True)),
)
