"""A first scenario file for a function, a module or a method: it runs where the source says enough, and says where not."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.drafting.compose import Draft, compose
from validate.drafting.evaluate import Scope, Thing
from validate.drafting.library import Definition, Functions, Library, Read
from validate.drafting.parameters import snake
from validate.drafting.subject import Subject, find_subject
from validate.model import ValidateError
