"""The guard that made torch compile again, in one line that a person understands and that is the same in every run."""

from __future__ import annotations

import ast
import re

COMPILE_ID = re.compile(r"^\[?!?\d+(?:/\d+)+\]?:\s*")
STACK = "\nUser stack trace:"
COMMENT = re.compile(r"\s{2,}#\s.*$")
SCOPE = re.compile(r"\b[LG]\['(\w+)'\]")
TYPE = re.compile(r"^___check_type_id\((?P<what>.+), \d+\)(?:, type=<class '(?P<type>[^']+)'>)?$")
OBJECT = re.compile(r"^___check_obj_id\((?P<what>.+), \d+\)(?:, type=<class '[^']+'>)?$")
LENGTH = re.compile(r"^len\((?P<what>.+)\) != (?P<length>\d+)$")
NUMBER = re.compile(r"\b\d{12,}\b")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def read_guard(reason: str) -> str:
    """`0/1: L['k'] == 3   # return x * k  # net.py:7 in scale` becomes `k == 3 failed`."""
    if not reason:
        return ""
    text = COMPILE_ID.sub("", reason.strip().split(STACK)[0])
    text = SCOPE.sub(r"\1", COMMENT.sub("", text.strip().split("\n")[0])).strip()
    return mask(say_type(text) or say_object(text) or say_length(text) or say_expression(text) or text)


def say_type(text: str) -> str:
    match = TYPE.match(text)
    if match is None:
        return ""
    return f"type({match['what']}) is {match['type']} failed" if match["type"] else f"type({match['what']}) changed"


def say_object(text: str) -> str:
    match = OBJECT.match(text)
    return f"{match['what']} is another object" if match else ""


def say_length(text: str) -> str:
    """Of dicts torch tells what holds, of lists what no longer does."""
    match = LENGTH.match(text)
    return f"len({match['what']}) == {match['length']} failed" if match else ""


def say_expression(text: str) -> str:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return ""
    return f"{text} failed"


def mask(text: str) -> str:
    return ADDRESS.sub("0x...", NUMBER.sub("...", text))
