"""What can be seen of a value: a whole number, a pair, a collection, a dict. Only what is certain is said."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 1 << 32


@dataclass(frozen=True, slots=True)
class Whole:
    """An `int`. `natural`: never negative. `below`: the constant that it stays under, as `path:NAME` or in digits.

    `negative`: seen to be negative at times.
    """

    natural: bool = False
    below: str = ""
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A tuple of two, of which either part may be unknown."""

    first: Shape | None
    second: Shape | None


@dataclass(frozen=True, slots=True)
class Many:
    """Something that yields such elements."""

    of: Shape | None


@dataclass(frozen=True, slots=True)
class Table:
    """A dict with such keys."""

    key: Shape | None


@dataclass(frozen=True, slots=True)
class Nothing:
    """The element of an empty collection: agrees with everything."""


Shape = Whole | Pair | Many | Table | Nothing

ANY = "*"
OWN_KEY = Pair(Whole(True), Whole(True, ANY))
"""A key that a dict already holds: it adds nothing to what is known of the second parts of its keys."""
OWN_SIGNED_KEY = Pair(Whole(), Whole(True, ANY))
"""The same where some first part may be negative."""


def join(shapes: list[Shape | None]) -> Shape | None:
    """What holds for a value that may be any of these."""
    result: Shape | None = Nothing()
    for shape in shapes:
        result = join_two(result, shape)
    return result


def join_two(one: Shape | None, two: Shape | None) -> Shape | None:
    if one is None or two is None:
        return None
    if isinstance(one, Nothing):
        return two
    if isinstance(two, Nothing):
        return one
    if isinstance(one, Whole) and isinstance(two, Whole):
        natural, negative = one.natural and two.natural, one.negative or two.negative
        return Whole(natural, same_bound(one.below, two.below), negative)
    if isinstance(one, Pair) and isinstance(two, Pair):
        return Pair(join_two(one.first, two.first), join_two(one.second, two.second))
    if isinstance(one, Many) and isinstance(two, Many):
        return Many(join_two(one.of, two.of))
    if isinstance(one, Table) and isinstance(two, Table):
        return Table(join_two(one.key, two.key))
    return None


def same_bound(one: str, two: str) -> str:
    if one == ANY or two == ANY:
        return two if one == ANY else one
    return one if one == two else ""


def element(shape: Shape | None) -> Shape | None:
    """What iterating over it yields."""
    if isinstance(shape, Many):
        return shape.of
    if isinstance(shape, Table):
        return shape.key
    if isinstance(shape, Pair):
        return join_two(shape.first, shape.second)
    return None


def part(shape: Shape | None, path: tuple[int, ...]) -> Shape | None:
    """What unpacking along a path yields."""
    for number in path:
        if isinstance(shape, Pair) and number in (0, 1):
            shape = (shape.first, shape.second)[number]
        elif isinstance(shape, (Many, Table)):
            shape = element(shape)
        else:
            return None
    return shape


def without_bounds(shape: Shape | None) -> Shape | None:
    """The same shape, of whose numbers nothing is known but that they are ints."""
    if isinstance(shape, Whole):
        return Whole(negative=shape.negative)
    if isinstance(shape, Pair):
        return Pair(without_bounds(shape.first), without_bounds(shape.second))
    if isinstance(shape, Many):
        return Many(without_bounds(shape.of))
    return Table(without_bounds(shape.key)) if isinstance(shape, Table) else shape


def is_int_pair(shape: Shape | None) -> bool:
    return isinstance(shape, Pair) and isinstance(shape.first, Whole) and isinstance(shape.second, Whole)
