"""Random statements without a body: bindings, stores, mutations of containers and objects, calls, raises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import operations as ops
from .expressions import (
    PYTHON_FLOAT,
    PYTHON_INT,
    call,
    condition,
    exact,
    expression,
    fit,
    index,
    integer,
    kept,
    leaf,
    stored,
)
from .kinds import (
    DictOf,
    Expression,
    Form,
    Grade,
    Kind,
    ListOf,
    Number,
    ObjectOf,
    TupleOf,
)
from .operations import Operation, apply, known
from .writer import Writer

VECTOR = Number(Form.ARRAY, "float64", (3,))
POINT = ObjectOf("Point", (("x", PYTHON_FLOAT), ("v", VECTOR)))
COUNTER = ObjectOf("Counter", (("n", PYTHON_INT), ("last", ListOf(PYTHON_INT, 2))))
DOUBLED = ObjectOf("Doubled", COUNTER.fields)


# ---------------------------------------------------------------- bindings


def declare(w: Writer) -> None:
    """A new name for a number, or for a new container."""
    if w.chance(3):
        text, kind = made(w)
        name = w.name("v")
        w.add(f"{name} = {text}")
        w.declare(name, kind)
        return
    e = expression(w)
    kind = kept(e)
    name = w.name("v")
    w.add(f"{name} = {fit(w, e, kind)}")
    w.declare(name, kind)


def made(w: Writer) -> tuple[str, Kind]:
    """A new container or object."""
    form = w.below(7)
    if form == 0:
        kind = w.pick((PYTHON_INT, PYTHON_FLOAT, VECTOR))
        items = [value(w, kind) for _ in range(2 + w.below(2))]
        return f"[{', '.join(items)}]", ListOf(kind, len(items))
    if form == 1:
        e = expression(w)
        kind = kept(e)
        return f"[{fit(w, e, kind)} for _ in range(3)]", ListOf(kind, 3)
    if form == 2:
        a, b = expression(w), expression(w)
        return f"({fit(w, a, kept(a))}, {fit(w, b, kept(b))})", TupleOf((kept(a), kept(b)))
    if form == 3:
        kinds = (w.pick((PYTHON_INT, PYTHON_FLOAT)), VECTOR)
        return f"{{'a': {value(w, kinds[0])}, 'b': {value(w, kinds[1])}}}", DictOf(
            tuple(zip("ab", kinds, strict=True))
        )
    if form == 4:
        return f"Point({value(w, PYTHON_FLOAT)}, {value(w, VECTOR)})", POINT
    cls = w.pick((COUNTER, DOUBLED))
    return f"{cls.cls}({value(w, PYTHON_INT)}, [1, {value(w, PYTHON_INT)}])", cls


def value(w: Writer, kind: Kind) -> str:
    """An expression of a kind."""
    if isinstance(kind, Number):
        return fit(w, expression(w, 1), kind)
    others = [text for text, other, _ in w.places() if other == kind]
    return w.pick(others)


def assign(w: Writer) -> None:
    """A place that is there gets another number of its kind."""
    numbers = [place for place in w.numbers() if place[2]]
    if not numbers:
        return declare(w)
    text, kind, _ = w.pick(numbers)
    new = fit(w, expression(w), kind)
    if w.keeps and kind.form is Form.ARRAY:
        text += "[...]"
    w.add(f"{text} = {new}")
    return None


def alias(w: Writer) -> None:
    """A name for what has a name already: a container, an array, or a view of one."""
    containers = [(text, kind) for text, kind, _ in w.places() if not isinstance(kind, Number)]
    if containers and w.chance(2):
        text, kind = w.pick(containers)
        return bind(w, text, kind)
    arrays = w.arrays()
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    view = apply(w.pick(VIEWS), known(text, kind))
    if view is None:
        return bind(w, text, kind)
    return bind(w, view.text, Number(Form.ARRAY, view.kind.dtype, view.kind.shape, kept(view).grade))


def bind(w: Writer, text: str, kind: Kind) -> None:
    """A new name, or one of the same kind, for what the text gives."""
    free = [name for name, other, assignable in w.places() if other == kind and assignable and name != text]
    if free and not w.keeps and w.chance(2):
        w.add(f"{w.pick(free)} = {text}")
        return
    name = w.name("v")
    w.add(f"{name} = {text}")
    w.declare(name, kind)


VIEWS = tuple(
    Operation(text, ops.largest)
    for text in (
        "{0}",
        "{0}[1:]",
        "{0}[::-1]",
        "{0}.T",
        "{0}[:2]",
        "{0}.reshape(-1)",
        "{0}[None]",
        "{0}[::2]",
    )
)


def swap(w: Writer) -> None:
    """Two or three names of one kind are exchanged."""
    free = [(name, kind) for name, kind, assignable in w.places() if assignable]
    if w.keeps:
        free = [(n, k) for n, k in free if isinstance(k, Number) and k.form is not Form.ARRAY]
    if not free:
        return declare(w)
    name, kind = w.pick(free)
    others = [other for other, k in free if k == kind and other != name]
    if not others:
        return assign(w)
    names = [name, w.pick(others)]
    w.add(f"{', '.join(names)} = {', '.join(reversed(names))}")
    return None


def unpack(w: Writer) -> None:
    """The items of a tuple, or of a short array, get names."""
    tuples = w.of_type(TupleOf)
    if tuples:
        text, kind, _ = w.pick(tuples)
        names = [w.name("v") for _ in kind.items]
        w.add(f"{', '.join(names)} = {text}")
        for name, item in zip(names, kind.items):
            w.declare(name, item)
        return None
    return declare(w)


# ---------------------------------------------------------------- arrays


def augment(w: Writer) -> None:
    """`x op= value`, with the type and the grade of `x` as they were."""
    numbers = [place for place in w.numbers() if place[2] or place[1].form is Form.ARRAY]
    if not numbers:
        return declare(w)
    text, kind, assignable = w.pick(numbers)
    written = augmented(w, kind)
    if written is None:
        return assign(w)
    if not assignable and text in w.scope.captured:
        text += "[...]"
    w.add(f"{text} {written}")
    return None


def augmented(w: Writer, kind: Number) -> str | None:
    """An operator and a value that keep what is of this kind; None if there is none."""
    if kind.letter == "b":
        return w.pick(("&= True", "|= False", "^= True"))
    if kind.letter == "c":
        return w.pick(("+= 1", "*= 0.5", "*= 1j"))
    if kind.grade is Grade.ROUGH:
        return w.pick(("+= 1", "*= 0.5", "*= -1", "/= 3"))
    choices = ["+= 1", "+= 2", "%= 5", "//= 2"]
    if kind.letter != "u":
        choices += ["*= -1", "-= 1", "-= 2"]
    if kind.letter == "f":
        choices += ["%= 2.5", "+= 0.25"]
    elif kind.grade is Grade.WHOLE:
        choices += ["*= 3", "<<= 1", "^= 5", "|= 2", "&= 6", ">>= 1"]
    if w.chance(3) and kind.grade is Grade.WHOLE:
        e = expression(w, 1)
        result = apply(Operation("({0} + {1})", ops.add), known("x", kind), e)
        if result is not None and result.kind.same_type(kind):
            return f"{w.pick(('+=', '-=', '*='))} {e.text}"
    return w.pick(choices)


INDEX_FORMS = ("{i}", "{i}", "{i}", "1:", ":-1", "::2", "::-1", "...", "[0, -1]", "[1, 0, 1]", "mask")


def store(w: Writer) -> None:
    """A store into elements of an array, or into a part of it."""
    arrays = w.arrays()
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    form = w.pick(INDEX_FORMS)
    if form == "mask":
        return masked(w, text, kind)
    if form == "{i}":
        indices = [index(w, extent) for extent in kind.shape]
        if len(indices) > 1 and w.chance(3):
            indices[w.below(len(indices))] = ":"
    else:
        indices = [form]
    part = _part(kind, indices)
    if part is None:
        return augment(w)
    target = f"{text}[{', '.join(indices)}]"
    operator = None if w.below(3) < 2 else augmented(w, kind)
    if operator is not None:
        w.add(f"{target} {operator}")
    elif form == "{i}" and part == () and w.chance(5):
        other = f"{text}[{', '.join(index(w, extent) for extent in kind.shape)}]"
        w.add(f"{target}, {other} = {other}, {target}")
    else:
        w.add(f"{target} = {stored(w, kind, part)}")
    return None


def _part(kind: Number, indices: list[str]) -> tuple[int, ...] | None:
    """The shape of what the indices select; None if there is nothing."""
    whole = np.zeros(kind.shape, bool)
    known_indices = ", ".join(i if i[0] in ":.[" or i in INDEX_FORMS else "0" for i in indices)
    try:
        shape: tuple[int, ...] = eval(f"whole[{known_indices}]", {"whole": whole}).shape
    except IndexError:
        return None
    return shape if 0 not in shape else None


def masked(w: Writer, text: str, kind: Number) -> None:
    """A store where a condition holds."""
    if not kind.bound.exact:
        w.add(f"{text}[...] = {stored(w, kind, kind.shape)}")
        return
    mask = f"{text} {w.pick(('>', '<=', '=='))} {w.pick(('1', '0', '2'))}"
    operator = augmented(w, kind) if w.chance(2) else None
    w.add(f"{text}[{mask}] {operator or '= ' + stored(w, kind, ())}")


# ---------------------------------------------------------------- containers and objects


def mutate(w: Writer) -> None:
    """A list, a dict or an object is changed."""
    containers = [place for place in w.places() if isinstance(place[1], ListOf | DictOf | ObjectOf)]
    if not containers:
        return declare(w)
    text, kind, _ = w.pick(containers)
    match kind:
        case ListOf(item, length):
            w.add(w.pick(_list_changes(w, text, item, length))())
        case DictOf(items):
            w.add(_dict_change(w, text, items))
        case ObjectOf(cls, fields):
            w.add(_object_change(w, text, cls, fields))
    return None


def _list_changes(w: Writer, text: str, item: Kind, length: int) -> list[Callable[[], str]]:
    at = w.below(2 * length) - length
    options: list[Callable[[], str]] = [
        lambda: f"{text}[{at}] = {value(w, item)}",
        lambda: f"{text}[0], {text}[-1] = {text}[-1], {text}[0]",
        lambda: f"{text}.append({value(w, item)})",
        lambda: f"{text}.append({text}.pop({at}))",
        lambda: f"{text}.insert({at}, {value(w, item)})",
        lambda: f"{text}.extend([{value(w, item)}, {value(w, item)}])",
        lambda: f"{text}.reverse()",
        lambda: f"{text}[1:] = [{value(w, item)}, {value(w, item)}]",
    ]
    if item == PYTHON_INT:
        options += [lambda: f"{text}.sort()", lambda: f"{text}[{integer(w)}] = {value(w, item)}"]
        options += [lambda: f"{text}.append(sum({text}) % 16)", lambda: f"{text}.append(len({text}))"]
    if w.keeps:
        return [options[1]] if isinstance(item, Number) and item.form is not Form.ARRAY else [options[0]]
    return options


def _dict_change(w: Writer, text: str, items: tuple[tuple[str, Kind], ...]) -> str:
    key, kind = w.pick(items)
    form = w.below(3)
    if form == 0 or w.keeps:
        return f"{text}[{key!r}] = {value(w, kind)}"
    if form == 1:
        return f"{text}.update({key}={value(w, kind)})"
    return f"{text}.setdefault({w.pick(('c', key))!r}, {value(w, kind)})"


def _object_change(w: Writer, text: str, cls: str, fields: tuple[tuple[str, Kind], ...]) -> str:
    if cls == "Settings":
        name, kind = w.pick(fields)
        return f"{text}.{name} = {value(w, kind)}"
    if cls == "Point":
        return w.pick(
            (
                lambda: f"{text}.shift({value(w, PYTHON_FLOAT)})",
                lambda: (
                    f"{text}.x = {text}.height % 16.0 * 1.0"
                    if False
                    else f"{text}.x = {value(w, PYTHON_FLOAT)}"
                ),
                lambda: f"{text}.v[...] = {text}.moved({value(w, PYTHON_INT)}).v",
                lambda: f"{text}.shift(1.5).shift({text}.x)",
                lambda: f"{text}.v = ({text} + Point(2.0, np.ones(3))).v",
            )
        )()
    return w.pick(
        (
            lambda: f"{text}.step()",
            lambda: f"{text}.step({value(w, PYTHON_INT)})",
            lambda: f"{text}.n = {text}({value(w, PYTHON_INT)}) + len({text}) - {text}[0]",
        )
    )()


# ---------------------------------------------------------------- calls and raises


def call_function(w: Writer) -> None:
    """A call for its effect, or for what it gives."""
    if w.scope.callees and not w.chance(3):
        e = call(w)
        kind = e.kind
        if w.chance(3):
            w.add(e.text)
            return None
        return bind(w, e.text, kind)
    arrays = w.arrays(lambda k: len(k.shape) == 1 and k.letter in "if")
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    other = w.pick([name for name, k, _ in arrays if k == kind])
    form = w.below(4)
    if form == 0:
        w.add(f"bump({text}, {stored(w, kind, ())})")
    elif form == 1:
        w.add(f"mixed({text}, {other})")
    elif form == 2:
        bind(w, f"first({text}, {other})", kind)
    elif kind.letter == "f":
        result = Expression(f"total({text}, {other}, by=2)", Number(Form.NUMPY, kind.dtype), kind.bound)
        bind(w, fit(w, result, kept(result)), kept(result))
    else:
        bind(w, f"bump({text}[1:], {stored(w, kind, ())})" if kind.shape[0] > 1 else text, _tail(kind))
    return None


def _tail(kind: Number) -> Number:
    return Number(kind.form, kind.dtype, (max(kind.shape[0] - 1, 1),), kind.grade)


def raising(w: Writer) -> None:
    """A statement that raises on some inputs."""
    form = w.below(4)
    if form == 0:
        w.add(f"if {condition(w)}:")
        what = w.pick(
            ("ValueError('no')", "Rejected('no', {0})", "KeyError({0})", 'IndexError(f"at {{{0}}}")')
        )
        w.lines.append("    " * (w.depth + 1) + f"raise {what.format(exact(w, 0).text)}")
    elif form == 1:
        w.add(f"assert {condition(w)}, {exact(w, 0).text}")
    elif form == 2:
        bind(w, f"int({integer(w)} // {integer(w)})", PYTHON_INT)
    else:
        arrays = w.arrays()
        if not arrays:
            return declare(w)
        text, kind, _ = w.pick(arrays)
        indices = [integer(w) for _ in kind.shape]
        element = Number(Form.NUMPY, kind.dtype, (), kind.grade)
        bind(w, f"{text}[{', '.join(indices)}]", element)
    return None


def result(w: Writer) -> None:
    """`return`, with what the function gives."""
    w.add(f"return {', '.join(fit(w, leaf(w), kind) for kind in w.scope.results)}")


STATEMENTS: tuple[Callable[[Writer], None], ...] = (
    declare,
    declare,
    assign,
    assign,
    augment,
    augment,
    store,
    store,
    store,
    store,
    alias,
    alias,
    swap,
    unpack,
    mutate,
    mutate,
    mutate,
    call_function,
    call_function,
    raising,
)
