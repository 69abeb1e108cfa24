"""Which variable a name is."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import Scopes, names_within
from fullgraph.codemods.source import decode


def module_of(text: str) -> Module:
    return Module(decode("m.py", text.encode()), "m")


def scope_of(text: str, name: str) -> str:
    """The kind of scope that the last mention of a name belongs to."""
    module = module_of(text)
    last = [node for node in module.nodes(ast.Name) if node.id == name][-1]
    return type(module.scopes.of(last)).__name__


def test_a_walrus_leaves_its_comprehension() -> None:
    assert scope_of("def f(xs):\n    [y := x for x in xs]\n    return y\n", "y") == "FunctionDef"
    assert scope_of("def f(xs):\n    global y\n    [y := x for x in xs]\n", "y") == "Module"


def test_a_function_does_not_see_the_names_of_its_class() -> None:
    assert scope_of("class A:\n    x = 1\n    def f(self):\n        return x\n", "x") == "Module"
    assert scope_of("class A:\n    x = 1\n    y = x\n", "x") == "ClassDef"


def test_a_default_and_a_first_iterable_belong_outside() -> None:
    assert scope_of("def f(x, y=x): ...\n", "x") == "Module"
    assert scope_of("def f(x):\n    return [x for x in x]\n", "x") == "FunctionDef"


def test_nonlocal_binds_the_variable_of_the_function_around() -> None:
    module = module_of("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return x\n")
    bindings = module.scopes.within(module.tree.body[0], "x")
    assert [binding.node.lineno for binding in bindings] == [2, 5]  # type: ignore[attr-defined]


def test_a_binding_leads_through_the_unpacking() -> None:
    module = module_of("a, (b, c) = value\nd, *e = value\n")
    bound = module.scopes.bound[module.tree]
    assert (bound["c"][0].how, bound["c"][0].path) == ("assign", (1, 1))
    assert bound["d"][0].how == bound["e"][0].how == "other"


def test_a_builtin_is_one_only_where_nothing_else_has_its_name() -> None:
    module = module_of("list(1)\ndef f(list):\n    return list(2)\n")
    first, second = (call.func for call in module.nodes(ast.Call))
    assert module.scopes.is_builtin(first, "list")
    assert not module.scopes.is_builtin(second, "list")


def test_a_name_in_many_functions_is_looked_up_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function has its own mentions; asking every function does not go through all mentions each time."""
    module = module_of("".join(f"def f{number}(x):\n    return x + x\n" for number in range(20)))
    looked: list[ast.AST] = []
    of = Scopes.of

    def note(scopes: Scopes, node: ast.Name) -> ast.AST:
        looked.append(node)
        return of(scopes, node)

    monkeypatch.setattr(Scopes, "of", note)
    for number, function in enumerate(module.tree.body):
        assert [node.lineno for node in module.scopes.names(function, "x")] == [2 * number + 2] * 2
    assert len(looked) == 40


def test_a_walrus_leaves_every_comprehension_around_it() -> None:
    text = "def f(xs):\n    [[y := x for x in row] for row in xs]\n    return y\n"
    assert scope_of(text, "y") == "FunctionDef"


def test_only_the_first_iterable_of_a_comprehension_belongs_outside() -> None:
    """The second one sees what the first one binds."""
    assert scope_of("def f(x):\n    return [y for x in x for y in x]\n", "x") == "ListComp"


def test_a_global_that_a_function_sets_is_a_variable_of_the_module() -> None:
    module = module_of("def f():\n    global x\n    x = 1\n")
    assert len(module.scopes.within(module.tree, "x")) == 1
    assert module.scopes.within(module.tree.body[0], "x") == []


def test_what_cannot_be_followed_is_bound_by_something_else() -> None:
    module = module_of("async def f(a, *b, c=1, **d):\n    [e async for e in a]\n    [g for g in a]\n")
    found = {
        name: [one.how for one in bindings]
        for bound in module.scopes.bound.values()
        for name, bindings in bound.items()
    }
    assert found["a"] == found["c"] == ["argument"]
    assert found["b"] == found["d"] == found["e"] == ["other"]
    assert found["g"] == ["loop"]


def test_every_way_to_name_something_is_a_name_within() -> None:
    text = "match x:\n    case {'a': 1, **rest}:\n        pass\n    case [*stars]:\n        pass\n"
    text += "    case A() as b:\n        pass\n"
    text += "try:\n    pass\nexcept ValueError as error:\n    pass\nimport a.b as c, d.e\n"
    assert {"rest", "stars", "b", "error", "c", "d"} <= names_within(ast.parse(text))
    assert "e" not in names_within(ast.parse(text))
