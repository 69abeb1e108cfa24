"""What the prover of branches says about many small functions: the new code, or why there is none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from fullgraph.codemods.catalog.breaks.select_without_branch import SelectWithoutBranch
from fullgraph.codemods.model import Finding, Safety, Site
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import find
from tests.cases import apply

HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"


def findings(body: str, arguments: str = "x: torch.Tensor") -> tuple[list[Finding], str]:
    text = f"{HEAD}def step({arguments}):\n{indent(dedent(body).strip(), '    ')}\n"
    files = {"module.py": text.encode()}
    result = find(Project(Path("none"), files, files), "module.py", [SelectWithoutBranch(symbols=("step",))])
    assert not result.error
    return list(result.findings), apply(files, [item for item in result.findings if item.is_fixable])[
        "module.py"
    ].decode()


def rewritten(body: str, arguments: str = "x: torch.Tensor") -> str:
    found, text = findings(body, arguments)
    assert found
    assert all(item.is_fixable for item in found), [item.left_alone for item in found]
    return text


def refused(body: str, arguments: str = "x: torch.Tensor") -> str:
    found, _ = findings(body, arguments)
    assert [item.is_fixable for item in found] == [False]
    return found[0].left_alone


@pytest.mark.parametrize(
    "test",
    ["y is None", "y is not None", "y.ndim > 1", "y.dim() == 2", "y.shape[0] > 1", "isinstance(y, int)", "ask(y)"],
)
def test_a_test_that_asks_for_no_value_is_no_finding(test: str) -> None:
    assert findings(f"y = x.sum(-1)\nif {test}:\n    x = x + 1\nreturn x")[0] == []


def test_a_name_that_holds_whether_torch_compiles_is_a_guard() -> None:
    body = "compiling = torch.compiler.is_compiling()\nif not compiling and x.sum() > 0:\n    x = x + 1\nreturn x"
    assert findings(body)[0] == []


CONDITIONS = {
    "x.sum() > 0": "x.sum() > 0",
    "not (x.sum() > 0)": "~(x.sum() > 0)",
    "x.sum()": "x.sum().bool()",
    "x.any()": "x.any().bool()",
    "(x > 0).any()": "(x > 0).any()",
    "torch.isnan(x).any() or torch.isinf(x).any()": "torch.isnan(x).any() | torch.isinf(x).any()",
    "not torch.isfinite(x).all()": "~torch.isfinite(x).all()",
    "x.sum().item() > 0": "x.sum() > 0",
    "float(x.sum()) > 0.5": "x.sum() > 0.5",
    "bool((x > 0).all())": "(x > 0).all()",
    "(x > 0).all().item()": "(x > 0).all()",
    "x.item() > 0": "(x > 0).reshape(())",
    "(x.sum() > 1).item() == 1": "(x.sum() > 1) == 1",
}


@pytest.mark.parametrize("test", CONDITIONS)
def test_a_condition_becomes_a_bool_without_dimensions(test: str) -> None:
    body = f"if {test}:\n    return x * 2\nreturn x - 1"
    assert f"return torch.where({CONDITIONS[test]}, x * 2, x - 1)" in rewritten(body)


REFUSED_CONDITIONS = {
    "x.sum().item() > 0.1": "double precision",
    "x.sum().item() > 1000": "no small number",
    "int(x.sum()) > 0": "cannot be told",
    "0 < x.sum() < limit": "two ends",
    "x.sum() > 0 and flag": "asked after the tensor",
    "x[0].sum() > 0": "cannot be told",
    "check(x).any()": "cannot be told",
    "(total := x.sum()) > 0": "cannot be told",
    "x.sum().item() > -1": "no small number",
    "x.max().item() > 200": "no small number",
    "x.sum() == None": "cannot be told",
}


@pytest.mark.parametrize("test", REFUSED_CONDITIONS)
def test_a_condition_that_is_not_understood_is_left_alone(test: str) -> None:
    body = f"if {test}:\n    return x * 2\nreturn x - 1"
    assert REFUSED_CONDITIONS[test] in refused(body, "x: torch.Tensor, flag: bool")


REFUSED_SIDES = {
    "x.sum()": "shape",
    "x.long()": "cannot be told",
    "x.half()": "dtype",
    "x[0]": "cannot be told",
    "x.t()": "may raise",
    "x.view(-1)": "may raise",
    "x.masked_fill(x > 0, 1e300)": "can hold",
    "x.masked_fill(x > 0, limit)": "can hold",
    "x.norm(dim=0)": "not understood",
    "x.softmax(0)": "not understood",
    "torch.arange(3)": "may raise",
    "x + torch.rand_like(x)": "cannot be told",
    "F.dropout(x)": "cannot be told",
    "x.relu_()": "cannot be told",
    "F.relu(x, inplace=True)": "not understood",
    "x * x.max().item()": "cannot be told",
    "torch.tensor(0.0)": "cannot be told",
    "torch.zeros(3)": "cannot be told",
    "torch.zeros_like(x, dtype=torch.int64)": "not understood",
    "x @ x": "cannot be told",
    "x if x is None else x": "cannot be told",
    "[x][0]": "cannot be told",
    "0": "Python value",
    "None": "Python value",
    "(x, x)": "cannot be told",
    "x // 2": "cannot be told",
    "x * (x > 0)": "calculates with torch.bool",
    "foo(x)": "cannot be told",
    "x.clamp(min=x)": "not seen to be numbers",
}


@pytest.mark.parametrize("side", REFUSED_SIDES)
def test_a_side_that_is_not_proven_is_left_alone(side: str) -> None:
    body = f"if x.mean() > 0:\n    y = {side}\nelse:\n    y = x * 2\nreturn y"
    assert REFUSED_SIDES[side] in refused(body, "x: torch.Tensor, limit: float")


STRAIGHT = [
    "x * 2",
    "x / 4",
    "2 - x",
    "-x",
    "x.relu()",
    "F.relu(x)",
    "x.clamp(min=0)",
    "torch.clamp(x, -1, 1)",
    "x + x",
]


@pytest.mark.parametrize("side", STRAIGHT)
def test_a_side_whose_gradient_is_a_constant_is_taken_as_it_is(side: str) -> None:
    body = f"x = x.float()\nif x.mean() > 0:\n    y = {side}\nelse:\n    y = x * 3\nreturn y"
    assert f"    y = torch.where(x.mean() > 0, {side}, x * 3)\n    return y" in rewritten(body)


BENT = ["x.exp()", "torch.log(x)", "x.sqrt()", "x * x", "x / x", "1 / x", "x ** 2", "x.sigmoid()", "x / 0", "x.abs()"]


@pytest.mark.parametrize("side", BENT)
def test_a_side_whose_gradient_may_be_infinite_gets_safe_values(side: str) -> None:
    body = f"if x.mean() > 0:\n    y = {side}\nelse:\n    y = x * 3\nreturn y"
    name = "x_1" if side.replace("exp", "").count("x") > 1 else "torch.where(taken, x, 1)"
    safe = side.replace("exp", "?").replace("x", name).replace("?", "exp")
    after = rewritten(body)
    assert safe in after
    assert f"y = {side}" in after, "eager code keeps the branch"


def test_integers_take_the_old_branch() -> None:
    after = rewritten("if x.sum() > 0:\n    x = x * 0.5\nreturn x + 1")
    assert "is_compiling() and x.is_floating_point():" in after


def test_whole_numbers_that_stay_whole_are_selected() -> None:
    assert "is_compiling() and x.dtype.is_signed:" in rewritten("if x.sum() > 0:\n    x = x * 2\nreturn x + 1")


def test_what_has_no_largest_element_is_asked_for_elements() -> None:
    after = rewritten("if x.any() and x.max() > 3:\n    return x * 2\nreturn x - 1")
    assert "and not x.is_complex()" in after
    assert "and x.numel() > 0" in after
    assert "x.numel()" not in rewritten("if x.max() > 3 and x.min() > 1:\n    return x * 2\nreturn x - 1")


def test_two_tensors_of_a_test_are_asked_for_their_devices() -> None:
    body = "if x.sum() > 0 and m.any():\n    x = x * 2\nreturn x + 1"
    assert "and x.device == m.device" in rewritten(body, "x: torch.Tensor, m: torch.Tensor")


def test_a_store_asks_nothing_of_its_test_but_what_it_is() -> None:
    body = "if x.sum() > 0 and y.max() > 0:\n    o.a = o.b\nelse:\n    o.a = o.c\nreturn o.a * 2"
    assert "more than one thing" in refused(body, "x: torch.Tensor, y: torch.Tensor, o: object")


MADE_BEFORE = {
    "y = x.masked_fill(m, 0.0)": "x.shape == y.shape",
    "y = torch.where(m, x, 0.0)": "x.shape == y.shape",
    "y = torch.where(x > 0, x, m)": "x.dtype == y.dtype",
}


@pytest.mark.parametrize("line", MADE_BEFORE)
def test_what_may_have_been_made_larger_before_is_asked_about(line: str) -> None:
    body = f"x = x.float()\n{line}\nif x.sum() > 0:\n    z = x * 2\nelse:\n    z = y * 2\nreturn z"
    assert MADE_BEFORE[line] in rewritten(body, "x: torch.Tensor, m: torch.Tensor")


FUNCTIONS_OF_TWO = {
    "torch.maximum(x, m)": ("x.shape == m.shape", "x.dtype == m.dtype"),
    "torch.where(m, x, 0.0)": ("m.dtype == torch.bool", "x.shape == m.shape"),
    "x.masked_fill(m, 0.0)": ("m.dtype == torch.bool", "x.shape == m.shape"),
    "x.masked_fill(m, -1e9)": ("x.dtype == torch.float32", "x.shape == m.shape"),
    "torch.softmax(x, -1)": ("x.dtype == torch.float32",),
    "F.softmax(x, dim=-1)": ("x.dtype == torch.float32",),
}


@pytest.mark.parametrize("side", FUNCTIONS_OF_TWO)
def test_a_function_asks_for_what_it_would_raise_without(side: str) -> None:
    after = rewritten(f"if x.sum() > 0:\n    x = {side}\nreturn x + 1", "x: torch.Tensor, m: torch.Tensor")
    assert all(test in after for test in FUNCTIONS_OF_TWO[side])


def test_long_selections_stand_on_several_lines() -> None:
    sides = "".join(f"elif x.sum() > {n}:\n    y = x.tanh() * {n} + x.sigmoid() / {n}\n" for n in (3, 2, 1))
    after = rewritten(f"if x.sum() > 9:\n    y = x * 2\n{sides}else:\n    y = x - 1\nreturn y")
    assert max(map(len, after.splitlines())) <= 100


def test_a_test_for_none_is_not_asked_beside_one_for_a_tensor() -> None:
    after = rewritten("if m is not None and m.any():\n    x = x * 2\nreturn x + 1", "x: torch.Tensor, m=None")
    assert "m is not None" not in after.split("elif")[0]


def test_the_truth_of_what_must_be_a_tensor_is_still_asked() -> None:
    after = rewritten("if m and x.any():\n    x = x * m.relu()\nreturn x + 1", "x: torch.Tensor, m=None")
    assert "and m\n" in after.split("elif")[0]


def test_a_test_that_may_not_have_been_asked_must_have_one_element() -> None:
    after = rewritten("if x.sum() > 3:\n    x = x * 2\nelif x > 0:\n    x = x + 1\nreturn x - 1")
    assert "and x.numel() == 1" in after
    assert "x.numel()" not in rewritten("if x.item() > 0:\n    x = x * 2\nreturn x - 1")


def test_a_sum_of_bools_is_no_bool() -> None:
    assert "torch.where((x > 0).sum().bool()," in rewritten("if (x > 0).sum():\n    x = x * 2\nreturn x + 1")


def test_what_was_made_from_a_tensor_is_not_asked_about_too() -> None:
    after = rewritten("y = x + 1\nif x.sum() > 0:\n    y = y * 2\nreturn y - 1", "x")
    assert "if torch.compiler.is_compiling() and isinstance(x, torch.Tensor) and y.dtype.is_signed:" in after


def test_what_was_made_from_a_name_that_is_bound_anew_is_asked_about() -> None:
    after = rewritten("y = x + 1\nx = make(x)\nif y.sum() > 0:\n    y = y * 2\nreturn y - 1", "x")
    assert "isinstance(y, torch.Tensor)" in after
    assert "isinstance(x, torch.Tensor)" not in after


def test_one_question_about_two_names_is_asked_once() -> None:
    after = rewritten("a, b = x * 2, x + 1\nif x.sum() > 0:\n    a, b = b, a\nreturn a - b")
    assert "if torch.compiler.is_compiling() and b.dtype == a.dtype:" in after
    assert "a, b = torch.where(taken, b, a), torch.where(taken, a, b)" in after


def test_a_name_that_others_read_as_it_was_is_not_taken_for_a_side() -> None:
    body = "h = x + 1\nif x.sum() > 0:\n    h = h * 2\n    y = h - 1\nelse:\n    y = h * 3\nreturn y"
    after = rewritten(body)
    assert "h_1 = h * 2" in after
    assert "torch.where(x.sum() > 0, h_1 - 1, h * 3)" in after


def test_names_that_are_taken_are_not_taken_again() -> None:
    body = "taken = x * 2\nif x.sum() > 0:\n    a, b = x, x * 2\nelif x.sum() < 0:\n    a, b = x, x * 3\nelse:\n"
    after = rewritten(f"{body}    a, b = taken, x\nreturn a - b + taken")
    assert "taken_1 = x.sum() > 0\n" in after
    assert "taken_2 = x.sum() < 0\n" in after


def test_a_branch_inside_one_that_is_rewritten_has_no_finding() -> None:
    inside = "    if x.max() > 2:\n        x = x * 3\n"
    found, after = findings(f"if x.sum() > 0:\n{inside}return x + 1")
    assert len(found) == 1
    assert after.count("is_compiling") == 1


def test_what_every_way_computes_is_computed_once() -> None:
    inside = "    if x.mean() > 2:\n        y = h * 3\n    else:\n        y = h - 1\n"
    after = rewritten(f"if x.sum() > 0:\n    h = x + 1\n{inside}else:\n    y = x * 2\nreturn y")
    assert after.split("elif")[0].count("h = x + 1") == 1


def test_a_second_name_for_a_tensor_is_seen_before_a_write_into_it() -> None:
    assert "writes into a tensor" in refused("h = x * 2\nif x.sum() > 0:\n    b = h\n    h += 1\nreturn h + b", "x, b")
    body = "h = x * 2\nk = h.view(-1)\nif x.sum() > 0:\n    h += 1\nreturn h.sum() + k.sum()"
    assert "writes into a tensor" in refused(body, "x")


def test_what_autocast_takes_to_single_precision_must_be_single() -> None:
    after = rewritten("if x.sum() > 0:\n    x = x.exp()\nreturn x + 1")
    assert "is_compiling() and x.dtype == torch.float32:" in after


def test_a_tensor_that_gets_no_gradient_on_one_side_gets_none() -> None:
    after = rewritten("if x.sum() > 0:\n    y = x * 2\nelse:\n    y = torch.zeros_like(x)\nreturn y")
    assert "and not (torch.is_grad_enabled() and x.requires_grad)" in after


def test_a_gradient_does_not_flow_back_through_what_was_computed_before() -> None:
    after = rewritten("l = torch.log(x)\nif (x > 0).all():\n    y = l * 2\nelse:\n    y = x * 3\nreturn y")
    assert "and not (torch.is_grad_enabled() and (l.requires_grad or x.requires_grad))" in after


def test_tensors_that_may_not_fit_are_asked_for_their_shapes() -> None:
    body = "if x.sum() > 0:\n    z = x + y\nelse:\n    z = x - y\nreturn z"
    after = rewritten(body, "x: torch.Tensor, y: torch.Tensor")
    assert all(f"x.{kind} == y.{kind}" in after for kind in ("shape", "dtype", "device"))


def test_a_test_on_another_tensor_asks_for_its_device() -> None:
    after = rewritten("if m.any():\n    x = x * 2\nreturn x + 1", "x: torch.Tensor, m: torch.Tensor")
    assert "x.device == m.device" in after


def test_what_may_be_none_must_be_a_tensor() -> None:
    after = rewritten("if x.sum() > 0:\n    x = x * 2\nreturn x + 1", "x: torch.Tensor = None")
    assert "isinstance(x, torch.Tensor)" in after


KEPT = {
    "if x.sum() > 0:\n    x = x * 2\nreturn x": Safety.UNSAFE,
    "if x.sum() > 0:\n    x = x * 2\nreturn x + 1": Safety.SAFE,
    "y = x.view(-1)\nif x.sum() > 0:\n    y = y * 2\nreturn y": Safety.UNSAFE,
    "h = x * 2\nif x.sum() > 0:\n    h = h + 1\nreturn h": Safety.SAFE,
    "h = x * 2\nif x.sum() > 0:\n    y = h + 1\nelse:\n    y = h\nreturn y, h": Safety.UNSAFE,
    "h = x * 2\nkeep.append(h)\nif x.sum() > 0:\n    h = h + 1\nreturn h": Safety.UNSAFE,
    "return x * 2 if x.sum() > 0 else x": Safety.UNSAFE,
    "return (x * 2 if x.sum() > 0 else x) + 1": Safety.SAFE,
}


@pytest.mark.parametrize("body", KEPT)
def test_a_tensor_that_others_hold_and_that_is_handed_on_makes_it_unsafe(body: str) -> None:
    found, _ = findings(body, "x: torch.Tensor, keep: list")
    assert [(item.is_fixable, item.safety) for item in found] == [(True, KEPT[body])]


WRITTEN = [
    "y = x\nif x.sum() > 0:\n    y = x * 2\ny.add_(1)\nreturn y",
    "if x.sum() > 0:\n    x = x * 2\nx += 1\nreturn x",
    "if x.sum() > 0:\n    x = x * 2\nx[0] = 1\nreturn x",
    "if x.sum() > 0:\n    x = x * 2\ntorch.add(x, 1, out=x)\nreturn x",
    "for _ in range(3):\n    x.mul_(2)\n    if x.sum() > 0:\n        x = x * 2\nreturn x + 1",
    "if x.sum() > 0:\n    x += 1\nreturn x + 1",
    "h = x * 2\nk = h\nif x.sum() > 0:\n    h += 1\nreturn h + k",
    "h = x * 2\nk = h.view(-1)\nif x.sum() > 0:\n    h += 1\nreturn h.sum() + k.sum()",
    "h = x.detach()\nif x.sum() > 0:\n    h += 1\nreturn h * 2",
]


@pytest.mark.parametrize("body", WRITTEN)
def test_nothing_is_rewritten_where_a_write_in_place_would_show(body: str) -> None:
    assert "written in place" in refused(body) or "writes into a tensor" in refused(body)


def test_a_resize_in_place_makes_everything_unknown() -> None:
    body = "a = x * 2\nb = x + 1\na.unsqueeze_(0)\nif x.sum() > 0:\n    y = a * 2\nelse:\n    y = b * 2\nreturn y"
    assert "a.shape == b.shape" in rewritten(body)


def test_what_a_loop_may_have_rebound_is_not_what_it_was() -> None:
    branch = "    if x.sum() > 0:\n        y = a * 2\n    else:\n        y = x * 2\n"
    body = f"a = x * 2\nfor _ in range(2):\n{branch}    a = y[0]\nreturn y"
    assert "a.shape == x.shape" in rewritten(body)


def test_the_observed_line_is_found_in_a_big_file() -> None:
    filler = "".join(f"def filler_{number}(x):\n    return x + {number}\n\n\n" for number in range(400))
    text = f"{HEAD}{filler}def step(x: torch.Tensor):\n    if x.sum() > 0:\n        x = x * 2\n    return x + 1\n"
    codemod = SelectWithoutBranch()
    codemod.sites = (Site("module.py", text.count("\n") - 2, "GB0170"),)
    files = {"module.py": text.encode()}
    found = find(Project(Path("none"), files, files), "module.py", [codemod]).findings
    assert [item.is_fixable for item in found] == [True]


GUARDED = "taken = (x > 0).all()"
"""How it begins where gradients flow: each side is kept from values that are not its own."""

ROOT_OR_ZERO = "if (x > 0).all():\n    y = x.sqrt()\nelse:\n    y = x * 0\n"


@pytest.mark.parametrize("context", ["torch.no_grad()", "torch.inference_mode()"])
def test_without_gradients_both_sides_may_run_on_all_values(context: str) -> None:
    assert GUARDED not in rewritten(f"with {context}:\n{indent(ROOT_OR_ZERO, '    ')}return y")


@pytest.mark.parametrize(
    "context",
    [
        *("torch.enable_grad()", "torch.set_grad_enabled(flag)", "context"),
        *("torch.inference_mode(flag)", "torch.inference_mode(False)", "torch.inference_mode(mode=False)"),
    ],
)
def test_gradients_that_are_turned_on_again_are_reckoned_with(context: str) -> None:
    body = f"with torch.no_grad():\n    with {context}:\n{indent(ROOT_OR_ZERO, '        ')}return y"
    assert GUARDED in rewritten(body, "x: torch.Tensor, flag, context")


def test_what_a_test_tells_holds_on_its_own_side_only() -> None:
    branch = "    if x.sum() > 0:\n        x = y * 2\n    else:\n        x = y + 1\n"
    asked = "isinstance(y, torch.Tensor)"
    inside = rewritten(f"if {asked}:\n{branch}return x + 1", "x: torch.Tensor, y")
    beside = rewritten(f"if {asked}:\n    y = x\nelse:\n{branch}return x + 1", "x: torch.Tensor, y")
    assert inside.count(asked) == 1
    assert beside.count(asked) == 2


@pytest.mark.parametrize("change", ["h.data = other", "k = (h := other)"])
def test_a_tensor_that_is_exchanged_is_asked_about(change: str) -> None:
    branch = "if x.sum() > 0:\n    h = h * 2\nelse:\n    h = h + 1\nreturn h"
    assert "isinstance(h, torch.Tensor)" not in rewritten(f"h = x * 2\n{branch}")
    assert "isinstance(h, torch.Tensor)" in rewritten(f"h = x * 2\n{change}\n{branch}", "x: torch.Tensor, other")


STORES = "if x.sum() > 0:\n    self.t = self.a\nelse:\n    self.t = self.b\n"


def test_a_stored_tensor_is_not_copied_where_it_is_written_to_later() -> None:
    assert "self.t = torch.where(taken, self.a, self.b)" in rewritten(f"{STORES}return self.t", "self, x: torch.Tensor")
    assert "line 10: something is written in place" in refused(
        f"{STORES}self.t.add_(1)\nreturn self.t", "self, x: torch.Tensor"
    )


def test_a_store_behind_a_python_test_is_left_alone() -> None:
    told = refused(f"if flag:\n    y = 1\nel{STORES}return self.t", "self, x: torch.Tensor, flag")
    assert "it is the `elif` of a test that asks for no tensor's value" in told
