"""Loop over a constant instead of over a dict that has its keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.loops import unwrap
from fullgraph.codemods.topics.keys.answers import Keys
from fullgraph.codemods.topics.keys.constants import Constant, constant_behind, equal_constants
from fullgraph.codemods.topics.keys.known import KnownKeys
from fullgraph.codemods.topics.keys.loops import is_index, is_method_call, mapping_of
from fullgraph.codemods.topics.keys.spelling import spell

Loop = ast.For | ast.comprehension
KEYS = b".keys("
BEFORE_KEYS = re.compile(rb"\bin\s+(?:\w*\(\s*)*[\w.]+(?:\[[\w-]+\])?\Z")
PLAIN_LOOP = re.compile(
    rb"for (?:\w+, ?)?\(?(\w+)\)?(?:, ?\w+)?\)? in (?:(?:list|tuple|sorted|reversed|enumerate|zip)\(\s*)?"
    rb"(\w+)(\[[\w-]+\])?\s*[\]:,)}\s]"
)


@dataclass(frozen=True)
class IterateConstantKeysOptions(Options):
    constant: str = option(
        "", "the tuple to loop over, as pkg.mod:NAME, also where the keys cannot be proven: you vouch for them"
    )


class IterateConstantKeys(Codemod):
    """Loop over the constant that names a dict's keys, instead of over the dict.

    `for k in d.keys()` and `for k in d`, in loops and comprehensions, become `for k in HEAD_NAMES` where the keys of
    `d`, in order, are provably those of a module-level tuple of strings: the dict is built in sight from the constant
    (`{k: ... for k in HEAD_NAMES}`, `dict.fromkeys`, a loop that fills it), or as a literal with the same keys, or by
    functions of the project all of whose returns do so. It may also be an element of a list of such dicts. Only the
    expression is replaced; `enumerate`, `zip`, `sorted` and `reversed` stay around it. The constant is imported where
    it is not at hand. A loop over a bare name counts if it looks the loop's variable up in it (`d[k]`).

    Measured on torch 2.13: neither loop breaks the graph. A compiled function that loops over a dict it is given is
    compiled again when the dict gains an entry that nobody needs, and again when the same entries come in another
    order; one that loops over the constant is compiled once. While the dict stays the same, neither is compiled again.

    A parameter is followed to the callers in the project; for a public function the finding is unsafe, because others
    may call it too. `--option iterate_constant_keys.constant=pkg.mod:NAME` names the constant where the keys cannot be
    proven; that is unsafe as well, and never done where they are known to be different.

    Left alone:
    - a dict that may gain, lose or reorder keys before the loop, and one handed to code that cannot be seen
    - a dict that is bound twice or has two names at once, and one that a function returns with other keys elsewhere
    - a list with a dict of which nothing is known, and a parameter for which one caller passes such a dict
    - a method that a subclass overrides; a function that is replaced from outside, or whose result is cached
    - a comprehension with a condition, or a loop that fills a dict only in part or may be interrupted
    - the same keys in another order
    - two constants that are equal, when the dict is built from neither and both sides import neither, or both
    - a constant that is a list, names a key twice, or is bound again, patched by a test, deleted, or only bound below
    - a constant whose import would close a circle, load a package that the file does without or run more than
      definitions, or whose name is taken there; a file of which it is not seen how it would import it
    - a call in the head of the loop, which would no longer run, and a comment there, which would be lost
    - a dict of which nothing is known, `.items()`, a loop at import time, a file without torch: not even reported
    """

    claim: ClassVar[str] = "looping over `.keys()` of a dict breaks the graph."
    why: ClassVar[str] = (
        "A loop over a dict makes its keys and their order part of what was compiled: one more entry, even an unused "
        "one, compiles again. A loop over a constant does not."
    )
    needles: ClassVar[tuple[bytes, ...]] = (b"torch",)

    options: IterateConstantKeysOptions

    def hits(self, raw: bytes) -> Iterator[int]:
        """Each loop over `.keys()`, and each over a name that is subscripted by the loop's variable near by."""
        yield from loops_over_keys(raw)
        yield from loops_with_lookups(raw)

    def find(self, module: Module, project: Project) -> Iterable[Finding]:
        if not module.imports.names_package("torch"):
            return
        known = KnownKeys(project)
        given = self.given(module, known.definitions)
        for loop in loops_in(module):
            for iterable in iterables(module, loop.iter):
                finding = self.look(module, known, iterable, loop, given)
                if finding:
                    yield finding

    def given(self, module: Module, definitions: Definitions) -> Constant | None:
        """The constant that the user vouches for."""
        if not self.options.constant:
            return None
        dotted, _, name = self.options.constant.partition(":")
        path = definitions.project.path_of(dotted)
        home = definitions.project.module(path) if path else None
        constant = constant_behind(definitions, home, ast.Name(name)) if home else None
        if constant is None or constant.flaw:
            problem = constant.flaw if constant else f"there is no tuple of strings {name!r} in {dotted!r}"
            raise SourceError(module.path, f"option {self.name}.constant: {problem}")
        return constant

    def look(
        self, module: Module, known: KnownKeys, iterable: ast.expr, loop: Loop, given: Constant | None
    ) -> Finding | None:
        """The finding about one loop over something that may be a dict."""
        mapping = mapping_of(unwrap(iterable))
        if not has_no_effect(mapping) or not is_surely_dict(module, loop, iterable, loosely=True):
            return None
        keys = known.of(module, mapping, iterable)
        message = f"the loop runs over the dict `{' '.join(module.code(iterable).split())}`, not over a constant"
        try:
            if given and keys is None and not is_surely_dict(module, loop, iterable, loosely=False):
                return None
            constant = given or matching(known.definitions, module, keys)
            if constant is None:
                return None
            doubt = doubt_about(keys, constant)
            text, imports = spell(known.definitions, module, constant, iterable)
            check_comments(module, iterable)
        except Unsure as reason:
            return module.finding(self.name, iterable, message, left_alone=str(reason))
        edits = (module.replace(iterable, text), *imports)
        caveat = doubt or (keys.caveat if keys else "")
        said = tuple(notes(keys, constant, mapping))
        return module.finding(self.name, iterable, message, edits=edits, caveat=caveat, notes=said)


def check_comments(module: Module, iterable: ast.expr) -> None:
    if "#" in module.code(iterable):
        raise Unsure("a comment stands inside it")


def matching(definitions: Definitions, module: Module, keys: Keys | None) -> Constant | None:
    """The one constant that has these keys in this order. None where there is none; Unsure where that is not enough.

    Of several, the one whose file both sides import already: where the dict is built, and where the loop is.
    """
    if keys is None:
        return None
    found = [keys.constant] if keys.constant else equal_constants(definitions, module, keys.names)
    if not found:
        return None
    if keys.doubt:
        raise Unsure(f"the dict has the keys of {found[0]}, but {keys.doubt}")
    same = [constant for constant in found if constant.names == keys.names]
    if not same:
        raise Unsure(f"the dict built at {keys.built} has the keys of {found[0]} in another order")
    if len(same) == 1:
        return same[0]
    sides = {module.path, keys.built.rpartition(":")[0]}
    shared = [constant for constant in same if all(has_already(definitions.project, side, constant) for side in sides)]
    if len(shared) != 1:
        raise Unsure(f"{same[0]} and {same[1]} are equal, and the dict is built from neither")
    return shared[0]


def has_already(project: Project, path: str, constant: Constant) -> bool:
    return path == constant.path or constant.path in project.imported_by(path)


def doubt_about(keys: Keys | None, given: Constant) -> str:
    """What is left to the user's word when a constant is given; Unsure where the keys are known to be different."""
    if keys is None:
        return f"that the dict holds the keys of {given}, in this order, is taken from the option"
    if set(keys.names) <= set(given.names) if keys.doubt else keys.names == given.names:
        return keys.doubt
    held, wanted = ", ".join(keys.names), ", ".join(given.names)
    raise Unsure(f"the dict built at {keys.built} holds other keys ({held}) than {given} ({wanted})")


def notes(keys: Keys | None, constant: Constant, mapping: ast.expr) -> Iterator[str]:
    if keys and keys.names == constant.names:
        yield f"the dict is built at {keys.built} with the keys of {constant}"
    if isinstance(mapping, ast.Subscript):
        yield f"an empty list made `{ast.unparse(mapping)}` raise IndexError; the constant does not"


def loops_in(module: Module) -> list[Loop]:
    """The loops that run inside functions; what runs at import time is compiled by nobody."""
    found = module.nodes(ast.For, *COMPREHENSIONS)
    inside = [node for node in found if module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)]
    return [loop for node in inside for loop in getattr(node, "generators", [node])]


def iterables(module: Module, node: ast.expr) -> list[ast.expr]:
    """What may be a dict in the head of a loop; `enumerate`, `zip`, `sorted` and `reversed` stay around it."""
    if not isinstance(node, ast.Call) or is_method_call(node, "keys"):
        return [node]
    if module.scopes.is_builtin(node.func, "enumerate", "sorted", "reversed"):
        return [item for item in node.args[:1] for item in iterables(module, item)]
    if module.scopes.is_builtin(node.func, "zip"):
        return [inner for item in node.args for inner in iterables(module, item)]
    return [node] if module.scopes.is_builtin(node.func, "list", "tuple", "iter") else []


def has_no_effect(node: ast.expr) -> bool:
    """Whether leaving out the expression leaves out nothing else: `d`, `self.d`, `ds[0]`, but not `f()`."""
    if isinstance(node, ast.Subscript):
        return is_index(node.slice) and has_no_effect(node.value)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and has_no_effect(node.value))


def is_surely_dict(module: Module, loop: Loop, iterable: ast.expr, *, loosely: bool) -> bool:
    """Whether the loop asks for `.keys()`, or looks the loop's variable up in what it runs over.

    Loosely, for `ds[0]` a look-up in anything will do: `m[k] for m in ds`.
    """
    inner = unwrap(iterable)
    if mapping_of(inner) is not inner:
        return True
    body = loop if isinstance(loop, ast.For) else module.parent(loop)
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    lookups = [node for node in ast.walk(body or loop) if isinstance(node, ast.Subscript)]
    by_key = [node.value for node in lookups if isinstance(node.slice, ast.Name) and node.slice.id in names]
    if loosely and isinstance(inner, ast.Subscript):
        return bool(by_key)
    return any(ast.dump(value) == ast.dump(inner) for value in by_key)


def loops_over_keys(raw: bytes) -> Iterator[int]:
    position = raw.find(KEYS)
    while position >= 0:
        if BEFORE_KEYS.search(raw, max(0, position - 80), position):
            yield position
        position = raw.find(KEYS, position + len(KEYS))


def loops_with_lookups(raw: bytes) -> Iterator[int]:
    """Where some `d[k]`, or `anything[k]` for a `d[0]`, stands near a loop `for k in d`."""
    for loop in PLAIN_LOOP.finditer(raw):
        key, mapping, index = loop.groups()
        wanted = b"[%s]" % key if index else b"%s[%s]" % (mapping, key)
        if raw.find(wanted, max(0, loop.start() - 400), loop.end() + 1000) >= 0:
            yield loop.start()
