"""A value for every parameter, as the text that makes it; None where nothing sensible can be said."""

from __future__ import annotations

import ast
import re
from typing import Any

from fullgraph.validate.drafting import names
from fullgraph.validate.drafting.callers import passed_values
from fullgraph.validate.drafting.construct import construct
from fullgraph.validate.drafting.evaluate import UNKNOWN, Layer, Scope, evaluate
from fullgraph.validate.drafting.facts import BATCH, Dim, Facts, shape_of
from fullgraph.validate.drafting.library import Definition, Functions
from fullgraph.validate.drafting.makers import NAMED, SIMPLE, Value, dict_text, make_float, make_int, quoted
from fullgraph.validate.drafting.parameters import Parameter, constructor_of, unquoted

DEEPEST = 3
LISTS = {"list", "List", "Sequence", "Iterable", "Collection", "MutableSequence"}
DICTS = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict"}
TENSOR_TYPES = {
    "torch.Tensor",
    "torch.FloatTensor",
    "torch._tensor.Tensor",
    "Tensor",
    "torch.LongTensor",
    "torch.BoolTensor",
}


class Guesser:
    """Finds values for parameters. `facts` say what the code asks of tensors; `imports` are what the texts need."""

    def __init__(self, scope: Scope, in_build: bool, facts: dict[str, Facts] | None = None) -> None:
        self.scope = scope
        self.in_build = in_build
        self.is_constructor = in_build
        self.prefix = ""
        self.facts = facts or {}
        self.keys: dict[str, list[str]] = {}
        self.tensors: set[str] = set()
        self.choices: dict[str, str] = {}
        self.limits: dict[str, int] = {}
        self.passed: dict[str, Any] = {}
        self.objects: set[str] = set()
        """Parameters with attributes of their own: neither numbers nor tensors."""
        self.width: int | None = None
        self.imports: set[tuple[str, str]] = set()
        self.depth = 0
        self.has_device = True
        """Whether a variable of that name is there to be passed on."""

    # By annotation

    def value(self, parameter: Parameter) -> Value | None:
        by_name = self.by_name(parameter)
        if by_name:
            return by_name
        if parameter.annotation is None:
            return self.unannotated(parameter)
        return self.typed(parameter.name, parameter.annotation, parameter) or self.by_plain_name(parameter)

    def typed(self, name: str, hint: ast.expr | None, parameter: Parameter) -> Value | None:
        hint = unquoted(hint)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return self.either([hint.left, hint.right], name, parameter)
        if isinstance(hint, ast.Constant) and hint.value is None:
            return Value("None", None)
        if isinstance(hint, ast.Subscript):
            return self.generic(name, hint, parameter)
        dotted = parameter.module.dotted(hint)
        if dotted in TENSOR_TYPES or dotted.endswith(".Tensor"):
            return self.tensor(name, {"torch.LongTensor": "int", "torch.BoolTensor": "bool"}.get(dotted, ""))
        maker = SIMPLE.get(dotted) or SIMPLE.get(dotted.rpartition(".")[2])
        if maker:
            return maker(self, name)
        return self.own_type(name, dotted, parameter)

    def either(self, hints: list[ast.expr], name: str, parameter: Parameter) -> Value | None:
        """The first alternative that is not None and can be made; tensors before numbers."""
        hints = sorted(hints, key=lambda hint: "Tensor" not in ast.dump(hint))
        found = [self.typed(name, hint, parameter) for hint in hints]
        made = [value for value in found if value]
        return next((value for value in made if value.text != "None"), made[0] if made else None)

    def generic(self, name: str, hint: ast.Subscript, parameter: Parameter) -> Value | None:
        kind = parameter.module.dotted(hint.value).rpartition(".")[2]
        inner = list(hint.slice.elts) if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        if kind in ("Optional", "Union"):
            return self.either(inner, name, parameter)
        if kind == "Literal":
            return Value(ast.unparse(inner[0]), evaluate(inner[0], self.scope))
        if kind in ("Annotated", "Final", "ClassVar"):
            return self.typed(name, inner[0], parameter)
        if kind in LISTS:
            return self.several(name, inner[0], parameter)
        if kind in ("tuple", "Tuple"):
            return self.tuple_of(name, inner, parameter)
        if kind in DICTS:
            return self.dict_of(name, inner, parameter)
        if kind in ("Callable", "type", "Type"):
            return SIMPLE[kind](self, name)
        if "Tensor" in ast.dump(hint):
            return self.tensor(name)
        return self.typed(name, hint.value, parameter)

    def several(self, name: str, hint: ast.expr, parameter: Parameter) -> Value | None:
        one = self.typed(name, hint, parameter)
        return Value(f"[{one.text}, {one.text}]", [one.worth, one.worth], one.guess) if one else None

    def tuple_of(self, name: str, hints: list[ast.expr], parameter: Parameter) -> Value | None:
        if len(hints) == 2 and isinstance(hints[1], ast.Constant) and hints[1].value is ...:
            hints = [hints[0], hints[0]]
        parts = [self.typed(name, hint, parameter) for hint in hints]
        made = [part for part in parts if part]
        if len(made) < len(hints):
            return None
        guess = next((part.guess for part in made if part.guess), "")
        comma = "," if len(made) == 1 else ""
        return Value(f"({', '.join(part.text for part in made)}{comma})", tuple(part.worth for part in made), guess)

    def dict_of(self, name: str, hints: list[ast.expr], parameter: Parameter) -> Value | None:
        """With the keys that the code asks for; else with two of its own."""
        one = self.typed(name, hints[-1], parameter)
        if one is None or parameter.module.dotted(hints[0]) not in ("str", "typing.Any", "int"):
            return None
        keys: list[Any] = list(dict.fromkeys(self.keys.get(self.prefix + name, [])))
        guess = one.guess
        if not keys:
            keys = [0, 1] if parameter.module.dotted(hints[0]) == "int" else ["a", "b"]
            guess = f"the keys of `{name}`"
        return Value(dict_text(keys, one.text), UNKNOWN, guess)

    # Tensors

    def knows_tensor(self, parameter: Parameter) -> bool:
        """Whether it takes a tensor, or None, and something says of what shape."""
        kinds = {part.strip().rpartition(".")[2] for part in re.split(r"[|\[\],]", parameter.written)}
        takes_tensor = "Tensor" in kinds and kinds <= {"Tensor", "None", "Optional", "Union", ""}
        value = self.value(parameter) if takes_tensor else None
        return value is not None and "torch." in value.text and not value.guess

    def tensor(self, name: str, kind: str = "") -> Value:
        facts = self.facts.get(self.prefix + name, Facts())
        is_known = bool(facts.dims or facts.sizes or facts.rank is not None or facts.at_least > 2)
        facts = Facts(kind=kind).plus(facts)
        if not facts.kind and facts.below is None:
            facts = facts.plus(Facts(kind=kind_by_name(name)))
        if not is_known:
            facts = facts.plus(self.usual(name, facts))
        text = self.tensor_text(shape_of(facts), facts, names.HIDING.search(name) is not None)
        return Value(text, UNKNOWN, "" if is_known else f"the shape of `{name}`")

    def usual(self, name: str, facts: Facts) -> Facts:
        """Where nothing says a shape: labels are a vector, ids sequences, the rest is as wide as the object."""
        if facts.kind == "int":
            is_sequence = facts.below is not None and not re.search("label|class|action|target", name)
            return Facts(rank=2 if is_sequence else 1)
        if names.IMAGES.fullmatch(name):
            return Facts(rank=4, sizes={1: 3, 2: 32, 3: 32})
        return Facts(sizes={-1: self.width} if self.width else {})

    def tensor_text(self, shape: list[Dim], facts: Facts, is_hiding: bool = False) -> str:
        """The call that makes it; of a mask that hides, few are true: what is hidden as a whole is not a number."""
        dims = ["4" if dim == BATCH and self.in_build else str(dim) for dim in shape]
        sizes = ", ".join(dims)
        if self.in_build:
            return f"torch.randn({sizes}, device=device)" if sizes else "torch.randn((), device=device)"
        tuple_text = f"({sizes},)" if len(dims) == 1 else f"({sizes})"
        if facts.kind == "int":
            return f"torch.randint(0, {facts.below or 8}, {tuple_text}, generator=generator).to(device)"
        if facts.kind == "bool":
            return f"(torch.rand({sizes or '()'}, generator=generator) > {0.9 if is_hiding else 0.3}).to(device)"
        return f"torch.randn({sizes or '()'}, generator=generator).to(device)"

    # By name

    def by_name(self, parameter: Parameter) -> Value | None:
        name, written = parameter.name, parameter.written
        if name == "device":
            return self.device(written)
        if name in self.passed:
            return Value(quoted(self.passed[name]), self.passed[name])
        if name == "dtype" and "Tensor" not in written:
            return Value("torch.float32")
        if name in self.choices and written in ("", "str"):
            return Value(repr(self.choices[name]).replace("'", '"'), self.choices[name])
        return None

    def device(self, written: str) -> Value:
        if not self.has_device:
            return Value('"cpu"', "cpu")
        return Value("str(device)" if written in ("str", "'str'") else "device")

    def by_plain_name(self, parameter: Parameter) -> Value | None:
        """The annotation says nothing that can be read: a number may still have a telling name."""
        if names.suggests_integer(parameter.name):
            return make_int(self, parameter.name)
        return make_float(self, parameter.name) if names.suggests_number(parameter.name) else None

    def unannotated(self, parameter: Parameter) -> Value | None:
        name = parameter.name
        if name in self.keys:
            one = self.tensor(name)
            return Value(dict_text(list(dict.fromkeys(self.keys[name])), one.text), UNKNOWN, f"the shapes in `{name}`")
        if name in self.tensors:
            return self.tensor(name)
        if name in self.objects and not any(name in pattern for pattern, _ in NAMED):
            return None
        for pattern, maker in NAMED:
            if name in pattern:
                return maker(self, name)
        if names.suggests_number(name) and (self.is_constructor or not names.TENSORS.fullmatch(name)):
            return make_float(self, name)
        if self.is_constructor and names.suggests_integer(name):
            return make_int(self, name)
        if not self.is_constructor and names.TENSORS.fullmatch(name):
            return self.tensor(name)
        return make_int(self, name) if names.suggests_integer(name) else None

    # The user's own classes

    def own_type(self, name: str, dotted: str, parameter: Parameter) -> Value | None:
        if dotted in ("typing.Any", "object"):
            return None if self.is_constructor else self.tensor(name)
        found = self.scope.library.find(dotted)
        if found is None:
            return self.torch_module(name) if dotted.startswith("torch.nn.") else None
        if not found.is_class:
            is_alias = not isinstance(found.node, Functions) and isinstance(found.node, ast.expr)
            inner = Parameter(name, parameter.annotation, None, "plain", found.module)
            return self.typed(name, found.node, inner) if is_alias else None  # type: ignore[arg-type]
        if found.module.name.startswith("torch."):
            return self.torch_module(name) if self.scope.library.is_torch_module(found) else None
        return self.member_of(found) or self.object_of(found, name)

    def member_of(self, found: Definition) -> Value | None:
        """The first member of an Enum."""
        if not any(base.rpartition(".")[2].endswith(("Enum", "Flag")) for base in self.scope.library.base_names(found)):
            return None
        node = found.node
        for statement in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self.imports.add((found.module.name, found.name))
                worth = evaluate(statement.value, self.scope)
                return Value(f"{found.name}.{statement.targets[0].id}", worth)
        return None

    def object_of(self, found: Definition, name: str) -> Value | None:
        """A call of the class, with what it needs."""
        made = self.arguments_for(found, name)
        if made is None:
            return None
        text = ", ".join(f"{name}={value.text}" for name, value in made.items())
        guesses = [value.guess for value in made.values() if value.guess]
        is_module = self.scope.library.is_torch_module(found)
        self.imports.add((found.module.name, found.name.partition(".")[0]))
        worth = construct(found, [], {name: value.worth for name, value in made.items()}, self.scope)
        moved = ".to(device)" if is_module else ""
        return Value(f"{found.name}({text}){moved}", worth, "; ".join(guesses[:2]), is_module)

    def arguments_for(self, found: Definition, found_in: str) -> dict[str, Value] | None:
        """What the constructor needs, by name; None if something of it cannot be made."""
        wanted = constructor_of(found, self.scope)
        if wanted is None or self.depth >= DEEPEST:
            return None
        inner = self.inside(found_in)
        inner.passed = passed_values(found, wanted, self.scope)
        made = {}
        for parameter in wanted:
            if parameter.is_needed or (parameter.name == "device" and self.has_device):
                value = inner.value(parameter)
                if value is None or "{model}" in value.text:
                    return None
                made[parameter.name] = value
        return made

    def inside(self, name: str) -> Guesser:
        """For the parts of an object that stands under a name."""
        inner = Guesser(self.scope, self.in_build, self.facts)
        inner.is_constructor, inner.prefix = True, f"{self.prefix}{name}."
        inner.keys, inner.imports, inner.depth = self.keys, self.imports, self.depth + 1
        inner.has_device = self.has_device
        return inner

    def torch_module(self, name: str) -> Value:
        if any(word in name for word in ("loss", "criterion", "objective")):
            return Value("torch.nn.MSELoss()", Layer("MSELoss", [], {}), f"`{name}`", True)
        return Value("torch.nn.Linear(8, 8).to(device)", Layer("Linear", [8, 8], {}), f"`{name}`", True)


def kind_by_name(name: str) -> str:
    return "bool" if names.MASKS.fullmatch(name) else "int" if names.INTEGERS.fullmatch(name) else ""
