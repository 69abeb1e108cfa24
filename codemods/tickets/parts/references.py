"""Files, lines and symbols as people write them: `a.py:3-5`, `a.py#L3-L5`, permalinks, `lines 3, 7-9`, `A.b()`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import unquote

from fullgraph.codemods.tickets.limits import INLINE, LAST_LINE, RANGES
from fullgraph.codemods.tickets.model import Lines, Place

DASH = r"\s?(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|\.\.\.?|\bto\b|\bthrough\b)\s?"
RANGE = re.compile(
    rf"(?<![\w.])[~\u2248]?L?(\d{{1,7}})(?:C\d+)?(?:{DASH}L?(\d{{1,7}})(?:C\d+)?)?(?![\w%]|\.\d)", re.IGNORECASE
)
ONE = rf"L?\d{{1,7}}(?:{DASH}L?\d{{1,7}})?"
TAIL = re.compile(
    r"(?:::(?P<node>[A-Za-z_][\w:.]*))?[`\"']?(?:"
    rf":(?P<colon>\d{{1,7}}(?:-\d{{1,7}})?(?:,\s?\d{{1,7}}-\d{{1,7}})*)(?::\d{{1,5}})?"
    rf"|\#L?(?P<hash>\d{{1,7}}(?:C\d+)?(?:-L?\d{{1,7}})?)"
    rf"|\s*[,(@:]?\s*(?:at\s|around\s|near\s)?(?:\blines?|\bll?\.|(?=\bL\d))\s*:?\s*[`~]?"
    rf"(?P<words>{ONE}(?:\s?(?:,|and|&|,\s?and)\s?{ONE}(?=[\s,;.)`:]|$))*)"
    r")?",
    re.IGNORECASE,
)
SEVERAL = rf"[~\u2248]?{ONE}(?:\s?(?:,|and|&|,\s?and)\s?[~\u2248]?{ONE}(?=[\s,;.)`:]|$))*"
IN_BRACKETS = re.compile(rf"[`\"']?\s*\((?P<lines>{SEVERAL})\)", re.IGNORECASE)
NO_PATH = r"\s`'\"()<>\[\]{},;:|*#?!="
WORD = rf"(?<![^{NO_PATH}])(?:[A-Za-z]:[\\/])?[^{NO_PATH}]{{1,300}}"
CODE_FILE = re.compile(WORD + r"?\.(?:pyi?|ipynb)(?![\w/\\-]|\.\w)")
ANY_FILE = re.compile(WORD)
SUFFIX = re.compile(
    r"\.(?:pyi?|ipynb|pyx|cuh?|c(?:c|pp)?|h(?:pp)?|rs|sh|ya?ml|toml|json|md|txt|cfg|ini)$", re.IGNORECASE
)
LINK = re.compile(
    r"https?://[^\s)>\]|`]{1,200}?/(?:-/)?(?:blob|blame|src|raw)/[^/\s]{1,100}/(?P<path>[^\s)>\]|`?#]{1,300})(?:\?[^\s#)>\]|`]*)?"
    r"(?:#(?:L|lines-)(?P<first>\d{1,7})(?:C\d+)?(?:[-:]L?(?P<last>\d{1,7})(?:C\d+)?)?)?"
)
URL = re.compile(r"https?://[^\s)>\]|`]+")
SYMBOL = re.compile(
    r"(?:(?:async\s+)?def\s+|class\s+)?(?P<name>\.?[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*)(?P<call>\([^()]*\))?:?"
)
NO_SYMBOL = {
    "none",
    "module",
    "na",
    "global",
    "all",
    "various",
    "multiple",
    "the",
    "unknown",
    "n",
    "see",
    "tbd",
    "entire",
}
FILLER = re.compile(
    r"\b(?:function|method|class|module|in|the|of|inside|helper|property|constructor)\b:?", re.IGNORECASE
)
SPLIT = re.compile(r"\s*(?:,|;|\n|\s/\s|\band\b|&|\u2192|->)\s*")


def places_in(text: str, *, is_field: bool = False) -> list[Place]:
    """The files that a text names, with the lines right behind each. In a field any file counts, else only Python."""
    text = text[:INLINE]
    found = [(match.start(), linked(match)) for match in LINK.finditer(text)]
    text = URL.sub(lambda match: " " * len(match.group()), text)
    pattern = ANY_FILE if is_field else CODE_FILE
    named_here = (match for match in pattern.finditer(text) if is_path(match.group()))
    found += [(match.start(), named(text, match, is_field=is_field)) for match in named_here]
    return merge(place for _, place in sorted(found, key=lambda pair: pair[0])[:RANGES])


def is_path(word: str) -> bool:
    """A known suffix, or two folders at least: `and/or` is none."""
    steps = word.replace("\\", "/").strip("/.").count("/") + word.startswith(("/", "../", "~/"))
    return SUFFIX.search(word.rstrip(".")) is not None or (steps > 1 and any(map(str.isalpha, word)))


def linked(match: re.Match[str]) -> Place:
    first = match.group("first")
    ranges = lines_in(f"{first}-{match.group('last') or first}") if first else ()
    return Place(unquote(match.group("path")), ranges)


def named(text: str, match: re.Match[str], *, is_field: bool = False) -> Place:
    """A file with the lines behind it. `a.py (3-5, 9)` names lines in a field; in prose it may count something."""
    tail = TAIL.match(text, match.end())
    groups = tail.groupdict() if tail else {}
    bracket = IN_BRACKETS.match(text, match.end()) if is_field else None
    ranges = lines_in(groups.get("colon") or groups.get("hash") or groups.get("words") or "")
    ranges = ranges or lines_in(bracket.group("lines") if bracket else "")
    node = (groups.get("node") or "").replace("::", ".").rstrip(".:")
    return Place(match.group().removeprefix("./").rstrip("."), ranges, (node,) if node else ())


def lines_in(text: str) -> tuple[Lines, ...]:
    """Every line and range of lines in a text that is about nothing else; `20-10` is `10-20`."""
    found: dict[Lines, None] = {}
    for match in RANGE.finditer(text[:INLINE]):
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if 0 < min(first, last) <= max(first, last) <= LAST_LINE:
            found[Lines(min(first, last), max(first, last))] = None
    return tuple(found)[:RANGES]


def without_files(text: str) -> str:
    """What is left of a text when its files, with their lines, are taken out."""
    text = URL.sub(" ", text[:INLINE])
    pieces, position = [], 0
    for match in CODE_FILE.finditer(text):
        tail = TAIL.match(text, match.end())
        pieces.append(text[position : match.start()])
        position = max(position, tail.end() if tail else match.end())
    return " ".join([*pieces, text[position:]])


def symbols_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Functions and classes, each by its dotted name. `.b()` after `A.a()` is `A.b`."""
    found: dict[str, None] = {}
    owner = ""
    for text in texts:
        for piece in SPLIT.split(re.sub(r"\([^()]*\)", "()", text[:INLINE])):
            name = symbol_in(piece.strip("`* \t"), owner)
            if name:
                found[name] = None
                owner = name.rpartition(".")[0] or owner
    return tuple(found)


def symbol_in(piece: str, owner: str = "") -> str:
    """One symbol, if the piece is nothing else."""
    bare = FILLER.sub(" ", piece).strip(" `:") if " " in piece else piece
    match = SYMBOL.fullmatch(bare) or SYMBOL.fullmatch(piece)
    name = match.group("name").replace("::", ".") if match else ""
    if name.startswith("."):
        return owner + name if owner else name[1:]
    return "" if name.casefold() in NO_SYMBOL else name


def merge(places: Iterable[Place]) -> list[Place]:
    """One place for each file: a bare file name belongs to the path that ends with it."""
    merged: list[Place] = []
    for place in places:
        same = next((number for number, other in enumerate(merged) if is_same(other.path, place.path)), None)
        if same is None:
            merged.append(place)
            continue
        other = merged[same]
        longer = max(other.path, place.path, key=len)
        lines = tuple(dict.fromkeys((*other.lines, *place.lines)))
        symbols = tuple(dict.fromkeys((*other.symbols, *place.symbols)))
        merged[same] = replace(other, path=longer, lines=lines, symbols=symbols)
    return merged


def is_same(one: str, other: str) -> bool:
    short, long = sorted((one.replace("\\", "/"), other.replace("\\", "/")), key=len)
    return short == long or (bool(short) and long.endswith("/" + short))


def identifiers(codes: Iterable[str]) -> Iterator[str]:
    """The names among code spans: `has_seed()`, `model.mean`, not expressions."""
    for code in codes:
        match = SYMBOL.fullmatch(code.strip())
        if match and len(match.group("name")) > 1:
            yield match.group("name").replace("::", ".").lstrip(".")
