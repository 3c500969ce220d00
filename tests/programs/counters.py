"""Counters that loops change and that bound loops, the keys and indices made of them, and what is kept under those.

A counter (`Grade.COUNT`) is a small Python integer from 0 on: a variable of a loop, or a name that loops and branches
count up, halve, exchange or set to the length of a container. `Keyed` is a dict whose keys are made of counters, `Grown`
a list of which only the item is known.
"""

from __future__ import annotations

from collections.abc import Callable

from . import operations as ops
from .expressions import (
    PYTHON_FLOAT,
    PYTHON_INT,
    condition,
    constant,
    exact,
    expression,
    fit,
    integer,
    scalar,
)
from .kinds import COUNT, Bound, Expression, Form, Grade, Grown, Keyed, ListOf, Number
from .operations import known
from .writer import Writer

NUMPY_FLOAT = Number(Form.NUMPY, "float64")
VECTOR = Number(Form.ARRAY, "float64", (3,))
ITEMS = (PYTHON_FLOAT, PYTHON_INT, NUMPY_FLOAT, VECTOR)
MOST_TRIPS = 5


# ---------------------------------------------------------------- counters


def counters(w: Writer) -> list[str]:
    """The counters that can be read here, the newest first."""
    return [text for text, _, _ in w.numbers(lambda kind: kind.grade is Grade.COUNT)][::-1]


def counter(w: Writer) -> str:
    """A counter, or a constant where there is none."""
    names = counters(w)
    return w.pick(names) if names and not w.chance(6) else str(w.below(4))


def lengths(w: Writer) -> list[str]:
    """The lengths of what is there."""
    containers = [*w.of_type(ListOf), *w.of_type(Grown), *w.of_type(Keyed), *w.arrays()]
    return [f"len({text})" for text, _, _ in containers]


def offset(w: Writer) -> str:
    """A number near a counter, also below 0 once in a while."""
    name = counter(w)
    form = w.below(12)
    if form < 5:
        return name
    if form == 11 and (found := lengths(w)):
        return f"{w.pick(found)} - {name}"
    return (
        f"{name} + 1",
        f"{name} - 1",
        f"{name} + {counter(w)}",
        f"{name} // 2",
        f"-{name}",
        f"2 * {name}",
    )[form - 5 if form < 11 else 0]


def trips(w: Writer) -> str:
    """The arguments of a `range` that counters bound."""
    name = counter(w)
    if w.scope.loops > 1:
        return w.pick((f"min({name}, 3)", f"{name} % 3"))
    return w.pick(
        (
            name,
            name,
            name,
            f"{name} + 1",
            f"min({name} + {counter(w)}, {MOST_TRIPS})",
            f"{counter(w)}, {name}",
            f"{name}, -1, -1",
            f"0, {MOST_TRIPS}, {name} + 1",
        )
    )


def count(w: Writer) -> None:
    """A new counter, or one that is there is changed."""
    free = [text for text, kind, ok in w.numbers(lambda kind: kind.grade is Grade.COUNT) if ok]
    if not free or w.chance(4):
        name = w.name("m")
        w.add(f"{name} = {_count(w)}")
        w.declare(name, COUNT)
        return
    name = w.pick(free)
    if len(free) > 1 and w.chance(4):
        other = w.pick([text for text in free if text != name])
        w.add(f"{name}, {other} = {other}, {w.pick((name, f'({name} + {other}) % {MOST_TRIPS}'))}")
        return
    more = f"{name} += 1" if w.scope.loops < 2 else f"{name} = min({name} + 1, 3)"
    changes: tuple[Callable[[], str], ...] = (
        lambda: more,
        lambda: more,
        lambda: more,
        lambda: f"{name} = {counter(w)}",
        lambda: f"{name} //= 2",
        lambda: f"{name} = max({name} - 1, 0)",
        lambda: f"{name} = ({name} + 1) // 2",
        lambda: f"{name} = {name} % 3 + 1",
        lambda: f"{name} = {counter(w)} if {condition(w)} else {name}",
        lambda: f"{name} = {_count(w)}",
    )
    w.add(w.pick(changes)())


def _count(w: Writer) -> str:
    """A number from 0 on, of at most a few trips."""
    found = lengths(w)
    if found and w.chance(3):
        return f"min({w.pick(found)}, {MOST_TRIPS})"
    return f"{integer(w, 0)} % 4" if w.chance(4) else w.pick(("1", "0", "2", "3"))


def accumulate(w: Writer) -> None:
    """A number grows by another, on some paths only."""
    numbers = [
        (text, kind)
        for text, kind, ok in w.numbers(
            lambda k: k.shape == () and k.bound.is_small and k.grade is Grade.SMALL
        )
        if ok and kind.dtype in ("float64", "int64") and kind.form is not Form.ARRAY
    ]
    if not numbers:
        name = w.name("v")
        w.add(f"{name} = {w.pick(('0.0', '0'))}")
        return w.declare(name, PYTHON_FLOAT if w.lines[-1].endswith("0.0") else PYTHON_INT)
    text, kind = w.pick(numbers)
    found = read(w) if w.below(2) else None
    e = scalar(w, found) if found is not None else exact(w, 1)
    small = (
        text not in e.text
        and e.bound.is_small
        and (e.kind.letter in "biu" or kind.letter == "f")
        and e.kind.letter != "u"
    )
    what = e.text if small else fit(w, e, kind)
    grown = w.pick((f"{text} = {text} + {what}", f"{text} += {what}", f"{text} = max({text}, {what})"))
    if w.below(2):
        with w.block(f"if {condition(w)}:"):
            w.add(grown)
    else:
        w.add(grown)
    return None


# ---------------------------------------------------------------- dicts and lists


def key(w: Writer, kind: Keyed) -> str:
    """A key made of counters."""
    first = _key(w)
    return f"({first}, {_key(w)})" if kind.pairs else first


def _key(w: Writer) -> str:
    if w.chance(12):
        return f"{integer(w, 0)} % 3"
    form = w.below(8)
    return counter(w) if form < 4 else offset(w) if form < 7 else f"{counter(w)} % 2"


def collect(w: Writer) -> None:
    """A new dict or list: empty, or made of counters."""
    item = w.pick(ITEMS)
    name = w.name("v")
    pairs = w.chance(5)
    form = w.below(5)
    if form < 2:
        w.add(f"{name} = {{}}")
    elif form == 2:
        w.add(f"{name} = []")
    elif form == 3 and not pairs:
        w.add(f"{name} = {{{_key(w)}: {_item(w, item)} for _ in range({trips(w)})}}")
    else:
        i = w.name("i")
        where = f" if {i} {w.pick(('!=', '<', '>'))} {counter(w)}" if w.chance(3) else ""
        w.add(f"{name} = [{_item(w, item)} for {i} in range({trips(w)}){where}]")
    w.declare(name, Keyed(item, pairs) if "{" in w.lines[-1] else Grown(item))


def _item(w: Writer, item: Number) -> str:
    return fit(w, expression(w), item)


def keep(w: Writer) -> None:
    """Something is put into a dict or a list under a key or an index made of counters, or taken out of it."""
    found = [
        (t, k)
        for t, k, _ in w.places()
        if isinstance(k, Keyed | Grown | ListOf) and isinstance(k.item, Number)
    ]
    if not found or w.chance(8):
        return collect(w)
    text, kind = w.pick(found[::-1])
    match kind:
        case Keyed():
            w.add(w.pick(_dict_changes(w, text, kind))())
        case Grown(item):
            w.add(w.pick(_list_changes(w, text, item))())
        case ListOf(item) if isinstance(item, Number):
            w.add(f"{text}[{_index(w, text)}] = {_item(w, item)}")
    return None


def _dict_changes(w: Writer, text: str, kind: Keyed) -> list[Callable[[], str]]:
    put: Callable[[], str] = lambda: f"{text}[{key(w, kind)}] = {_item(w, kind.item)}"  # noqa: E731

    def changed() -> str:
        at = key(w, kind)
        e = known(f"{text}.get({at}, {constant(kind.item)})", kind.item)
        more = ops.apply(ops.ARITHMETIC[0], e, scalar(w, expression(w, 1))) or e
        return f"{text}[{at}] = {fit(w, more, kind.item)}"

    def removed() -> str:
        at = key(w, kind)
        return f"if {at} in {text}: del {text}[{at}]"

    return [
        *(put, put, put, changed, changed, removed),
        lambda: f"{text}.setdefault({key(w, kind)}, {_item(w, kind.item)})",
        lambda: f"{text}.pop({key(w, kind)}, None)",
        lambda: f"{text}.update({{{key(w, kind)}: {_item(w, kind.item)}}})",
        lambda: f"{text}.clear()",
    ]


def _list_changes(w: Writer, text: str, item: Number) -> list[Callable[[], str]]:
    put: Callable[[], str] = lambda: f"{text}.append({_item(w, item)})"  # noqa: E731
    return [
        *(put, put, put, put),
        lambda: f"{text} += [{_item(w, item)}]" if text not in w.scope.captured else put(),
        lambda: f"if {text}: {text}[{_index(w, text)}] = {_item(w, item)}",
        lambda: f"if len({text}) > {counter(w)}: {text}.pop()",
        lambda: f"{text}.insert({counter(w)}, {_item(w, item)})",
        lambda: f"del {text}[{offset(w)}:]",
        lambda: f"{text}[{counter(w)}:] = {text}[:{counter(w)}]",
        lambda: f"{text}.clear()",
    ]


def _index(w: Writer, text: str) -> str:
    """An index made of counters; mostly inside."""
    form = w.below(6)
    if form < 4:
        return f"{offset(w)} % len({text})" if form else f"({offset(w)}) % len({text})"
    return offset(w)


# ---------------------------------------------------------------- expressions


def read(w: Writer) -> Expression | None:
    """Something that a dict or a list keeps, or how much that is; None if there is none."""
    found = [
        (t, k)
        for t, k, _ in w.places()
        if isinstance(k, Keyed | Grown | ListOf) and isinstance(k.item, Number)
    ]
    if not found:
        names = counters(w)
        return known(w.pick(names), COUNT) if names else None
    text, kind = w.pick(found[::-1])
    item = kind.item
    assert isinstance(item, Number)
    if w.chance(5):
        return known(f"len({text})", PYTHON_INT)
    numbers = item.shape == () and item.bound.exact
    match kind:
        case Keyed():
            return _of_a_dict(w, text, kind, numbers)
        case Grown():
            return _of_a_list(w, text, item, numbers)
    return known(f"{text}[{_index(w, text)}]", item)


def _of_a_dict(w: Writer, text: str, kind: Keyed, numbers: bool) -> Expression:
    form = w.below(9)
    at = key(w, kind)
    if form == 8 and numbers:
        return known(f"sum({text}.values())", kind.item, Bound(1000, 2))
    if form == 7 and not kind.pairs:
        return known(f"{w.pick(('max', 'min'))}({text}, default=0)", PYTHON_INT)
    if form == 6:
        return known(f"({at} in {text})", Number(Form.PYTHON, "bool"), Bound(1))
    if form == 5:
        return known(f"list({text}.values())[-1]", kind.item)
    if form == 4:
        return known(f"({text}[{at}] if {at} in {text} else {constant(kind.item)})", kind.item)
    if form > 1:
        return known(f"{text}[{at}]", kind.item)
    return known(f"{text}.get({at}, {constant(kind.item)})", kind.item)


def _of_a_list(w: Writer, text: str, item: Number, numbers: bool) -> Expression:
    form = w.below(8)
    if form == 7 and numbers:
        return known(f"max({text}, default={constant(item)})", item)
    if form == 6 and numbers:
        return known(f"sum({text})", item, Bound(1000, 2))
    if form == 5 and numbers:
        return known(f"sum({text}[{offset(w)}:{offset(w)}])", item, Bound(1000, 2))
    if form == 4:
        return known(f"len({text}[{offset(w)}:])", PYTHON_INT)
    if form == 3:
        return known(f"{text}[{_index(w, text)}]", item)
    at = w.pick(("0", "-1", _index(w, text)))
    return known(f"({text}[{at}] if {text} else {constant(item)})", item)


# ---------------------------------------------------------------- what loops go over


def key_sources(w: Writer) -> list[tuple[str, dict[str, Number]]]:
    """Headers of loops over what dicts and lists keep, and the names that they bind."""
    i, item = w.name("i"), w.name("v")
    found: list[tuple[str, dict[str, Number]]] = []
    for text, kind, _ in w.of_type(Grown):
        found.append((f"for {item} in {text}[:{MOST_TRIPS}]:", {item: kind.item}))
        found.append((f"for {i}, {item} in enumerate({text}[{counter(w)}:4]):", {i: COUNT, item: kind.item}))
    for text, keyed, _ in w.of_type(Keyed):
        if keyed.pairs:
            found.append((f"for ({i}, _), {item} in list({text}.items()):", {item: keyed.item}))
        else:
            found.append((f"for {i}, {item} in list({text}.items()):", {i: PYTHON_INT, item: keyed.item}))
            found.append((f"for {i} in sorted({text}):", {i: PYTHON_INT}))
            found.append((f"for {i}, {item} in {text}.items():", {i: PYTHON_INT, item: keyed.item}))
    return found
