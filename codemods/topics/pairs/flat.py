"""One dict made flat: all edits, over all files, and what is not certain about them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.pairs.annotations import arguments, pair_table, unquoted
from fullgraph.codemods.topics.pairs.dicts import PairDict
from fullgraph.codemods.topics.pairs.helper import add_function, choose_name, import_function
from fullgraph.codemods.topics.pairs.keys import Keys, keys_of
from fullgraph.codemods.topics.pairs.loops import loop_edits
from fullgraph.codemods.topics.pairs.strides import Stride, check_visible, choose_stride, form_of
from fullgraph.codemods.topics.pairs.uses import Use


@dataclass(frozen=True)
class Flat:
    """The edits that flatten a dict. `doubts` are what could make the result another program."""

    edits: tuple[Edit, ...]
    doubts: list[str] = field(default_factory=list)
    stride: str = ""


def flatten(found: PairDict, uses: list[Use], given_stride: str) -> Flat:
    """The whole rewrite; Unsure, with the place, if any use cannot be rewritten."""
    keys = keys_of(found.project, uses)
    stride = choose_stride(found, uses, keys, given_stride)
    check_sorting(uses, keys, stride)
    check_errors(uses)
    edits = [edit for use in uses for edit in annotation_edits(found, use)]
    edits += code_edits(found, uses, keys, stride)
    doubts = [*key_doubts(keys, stride), *receiver_doubts(found, uses)]
    return Flat(tuple(dict.fromkeys(edits)), doubts, stride.text)


def code_edits(found: PairDict, uses: list[Use], keys: Keys, stride: Stride) -> list[Edit]:
    edits: list[Edit] = []
    staying: set[ast.AST] = set()
    own: set[ast.AST] = {key.node for key in keys.all}
    for use in uses:
        if use.loop:
            if "divmod" in names_bound(use.module):
                raise Unsure(f"{use.place}: divmod means something else in this file")
            spelling, imports = stride.spell(found, use.module)
            check_visible(use.module, uses, spelling)
            changed, stay = loop_edits(use, own, spelling)
            edits += [*imports, *changed] if changed else []
            staying |= stay
    return edits + key_edits(found, [(key.use, key.node) for key in keys.all if key.node not in staying], stride)


def names_bound(module: Module) -> set[str]:
    return {name for names in module.scopes.bound.values() for name in names}


def key_edits(found: PairDict, keys: list[tuple[Use, ast.expr]], stride: Stride) -> list[Edit]:
    """Every key expression through the key function, which is added once and imported where it is needed."""
    if not keys:
        return []
    form = form_of(stride)
    users = list({use.module.path: use.module for use, _ in keys}.values())
    name = choose_name(found.project, found.module, users, form, found.name)
    edits = [*stride.spell(found, found.module)[1], *add_function(found.module, name, form)]
    for user in users:
        spelling, imports = import_function(found.project, found.module, user, name)
        edits += imports
        for use, node in keys:
            if use.module is user:
                edits += call_edits(user, node, spelling)
    return edits


def call_edits(module: Module, key: ast.expr, function: str) -> list[Edit]:
    """`i, j` and `(i, j)` become the arguments of the call; any other pair is unpacked into it."""
    span = module.span(key)
    before = module.text[span.start - 1 : span.start]
    space = " " if before.isidentifier() or before.isdigit() else ""
    if isinstance(key, ast.Tuple) and is_parenthesised(module.code(key)):
        return [module.insert(span.start, space + function)]
    opening, closing = ("(", ")") if isinstance(key, ast.Tuple) else ("(*", ")")
    if isinstance(key, ast.NamedExpr):
        opening, closing = "(*(", "))"
    return [module.insert(span.start, space + function + opening), module.insert(span.end, closing)]


def is_parenthesised(code: str) -> bool:
    """Whether the first and the last character are the parentheses of the tuple itself: not so in `(i), (j)`."""
    if not (code.startswith("(") and code.endswith(")")):
        return False
    try:
        ast.parse(f"[{code[1:-1]}\n]", mode="eval")
    except SyntaxError:
        return False
    return True


def annotation_edits(found: PairDict, use: Use) -> list[Edit]:
    """`int` in place of the pair in an annotation of the dict or of a second name for it."""
    module = use.module
    check_type_comment(use)
    if use.annotation is None:
        return []
    table = pair_table(module, use.annotation, found.project)
    if table is None:
        raise Unsure(f"{use.place}: it is annotated as {module.code(use.annotation)} there")
    if not table[1]:
        raise Unsure(f"{use.place}: the annotation says more than a dict: {module.code(use.annotation)}")
    key = arguments(table[0])[0]
    if unquoted(use.annotation) is use.annotation:
        return [module.replace(key, "int")]
    if isinstance(key, ast.Constant) or not quoted_plainly(module, use.annotation):
        raise Unsure(f"{use.place}: the annotation is quoted in an unusual way")
    start = module.span(use.annotation).start + 1
    assert key.end_col_offset is not None
    return [module.replace(Span(start + key.col_offset, start + key.end_col_offset), "int")]


def quoted_plainly(module: Module, annotation: ast.expr) -> bool:
    code = module.code(annotation)
    return isinstance(annotation, ast.Constant) and code[1:-1] == annotation.value and code.isascii()


def check_type_comment(use: Use) -> None:
    if use.kind == "define":
        end = use.module.span(use.module.statement(use.node)).end
        comment = use.module.text[end : use.module.line_end(end)]
        if "# type:" in comment and "# type: ignore" not in comment:
            raise Unsure(f"{use.place}: its type stands in a comment")


# What is not certain


def check_sorting(uses: list[Use], keys: Keys, stride: Stride) -> None:
    """Flat keys sort like their pairs, but only if no second part is negative."""
    certain = stride.is_proven or (not stride.text and all(key.is_natural for key in keys.all if key.use.writes))
    for use in uses:
        if use.loop and use.loop.is_sorted and not certain:
            raise Unsure(f"{use.place}: it is sorted, and negative keys would be sorted in another order")


def check_errors(uses: list[Use]) -> None:
    """A KeyError names the key: Unsure where somebody looks at the error."""
    for use in (use for use in uses if use.kind == "key"):
        child: ast.AST = use.node
        for outer in use.module.ancestors(use.node):
            handlers = outer.handlers if isinstance(outer, ast.Try) and child in outer.body else []
            for handler in handlers:
                if shows_key(use.module, handler):
                    raise Unsure(f"{use.module.path}:{handler.lineno}: the KeyError, which names the key, is looked at")
            child = outer


def shows_key(module: Module, handler: ast.ExceptHandler) -> bool:
    """Whether the handler of a KeyError does more with it than to raise another `from` it."""
    if not (handler.name and handler.type and "KeyError" in module.code(handler.type)):
        return False
    names = [node for node in ast.walk(handler) if isinstance(node, ast.Name) and node.id == handler.name]
    return not all(isinstance(module.parent(name), ast.Raise) for name in names)


def key_doubts(keys: Keys, stride: Stride) -> list[str]:
    if stride.is_proven:
        return []
    if stride.text:
        return [f"no key may have a second part outside 0 <= j < {stride.text}: two keys would become one"]
    doubtful = keys.doubtful()
    if not doubtful:
        return []
    places = listed([f"{key.place} ({key.text})" for key in doubtful])
    return [f"a key is not seen to be two ints, the second >= 0, at {places}: a negative one would mix keys up"]


def receiver_doubts(found: PairDict, uses: list[Use]) -> list[str]:
    """Uses through something that is not seen to be an instance of the class."""
    if found.kind != "attribute":
        return []
    family = found.family
    strangers = [
        use
        for use in uses
        if isinstance(use.node, ast.Attribute)
        and use.node.attr == found.name
        and not family.project_class(use.module, use.node.value)
        and not family.has_instance(use.module, use.node.value)
    ]
    if not strangers:
        return []
    places = listed([f"{use.place} ({use.module.code(use.node)})" for use in strangers])
    return [f"what has the attribute is not seen to be a {found.scope.name} at {places}"]  # type: ignore[attr-defined]


def listed(places: list[str]) -> str:
    unique = list(dict.fromkeys(places))
    return ", ".join(unique[:4]) + (f" and {len(unique) - 4} more" if len(unique) > 4 else "")
