"""Random statements as people write Python and NumPy: comprehensions, unpacking, methods, strings, slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import operations as ops
from .expressions import PYTHON_FLOAT, PYTHON_INT, condition, exact, expression, fit, integer, kept, stored
from .kinds import DictOf, Form, Grade, Kind, ListOf, Number, TextKind, TupleOf
from .operations import Operation, apply, known
from .statements import augmented, bind, declare, value
from .writer import Scope, Writer

# ---------------------------------------------------------------- comprehensions and unpacking


@contextmanager
def _inside(w: Writer, names: dict[str, Kind]) -> Iterator[None]:
    """Expressions written meanwhile may use these names too."""
    outer = w.scope
    w.scope = Scope(dict(outer.variables), list(outer.callees), 0, (), outer.captured)
    for name, kind in names.items():
        w.declare(name, kind, assignable=False)
    yield
    w.scope = outer


def comprehension(w: Writer) -> None:
    """A list or a dict of what an expression gives, over numbers that are known."""
    i = w.name("i")
    header, length = w.pick(
        (
            (f"for {i} in range(3)", 3),
            (f"for {i} in range(4) if {i} % 2", 2),
            (f"for {i} in (2, 0, 1) if {i} != 1", 2),
            (f"for {i}, _ in enumerate('ab')", 2),
        )
    )
    with _inside(w, {i: PYTHON_INT}):
        e = expression(w)
        kind = kept(e)
        text = fit(w, e, kind)
    if w.chance(4):
        header = header.replace(f"for {i}, _ in enumerate", f"for {i}, k in enumerate")
        key = "k" if ", k in" in header else f"'abcd'[{i}]"
        keys = {"range(3)": "abc", "range(4)": "bd", "(2, 0": "ca", "enumer": "ab"}
        letters = next(letters for start, letters in keys.items() if start in header)
        _made(w, f"{{{key}: {text} {header}}}", DictOf(tuple([(letter, kind) for letter in letters])))
    else:
        _made(w, f"[{text} {header}]", ListOf(kind, length))


def over_two(w: Writer) -> None:
    """A list made of the elements of two arrays of one length, or of lengths that may differ."""
    arrays = w.arrays(lambda k: len(k.shape) == 1)
    if not arrays:
        return declare(w)
    (first, kind, _), (second, other, _) = w.pick(arrays), w.pick(arrays)
    p, q = w.name("v"), w.name("v")
    elements: dict[str, Kind] = {p: _element(kind), q: _element(other)}
    with _inside(w, elements):
        e = expression(w, 1)
        item = kept(e)
        text = fit(w, e, item)
    strict = ", strict=True" if w.below(2) else ""
    length = min(kind.shape[0], other.shape[0])
    return _made(w, f"[{text} for {p}, {q} in zip({first}, {second}{strict})]", ListOf(item, length))


def _element(kind: Number) -> Number:
    return Number(Form.NUMPY, kind.dtype, (), kind.grade)


def conditional_sum(w: Writer) -> None:
    """A sum of the elements of an array that meet a condition, or whether any does."""
    arrays = w.arrays(lambda k: len(k.shape) == 1 and k.bound.is_small and k.letter in "iuf")
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    name = w.name("v")
    with _inside(w, {name: _element(kind)}):
        where = condition(w)
        what = exact(w).text
    e = known(f"int(sum(1 for {name} in {text} if {where}))", PYTHON_INT, ops.Bound(kind.elements))
    if w.below(2):
        quantifier = w.pick(("any", "all"))
        e = known(f"{quantifier}({where} for {name} in {text})", Number(Form.PYTHON, "bool"), ops.Bound(1))
    elif kind.letter == "f" and w.below(2):
        e = known(
            f"float(sum((v0 for v0 in {text} if {what} > v0), 0.5))".replace("v0", name),
            PYTHON_FLOAT,
            ops.Bound(200, 2),
        )
    return bind(w, fit(w, e, kept(e)), kept(e))


def unpacked(w: Writer) -> None:
    """`a, *b = …` of a list or an array; `a = b = …`."""
    sources: list[tuple[str, Kind, int]] = [(t, k.item, k.length) for t, k, _ in w.of_type(ListOf)]
    sources += [(t, _element(k), k.shape[0]) for t, k, _ in w.arrays(lambda k: len(k.shape) == 1)]
    if not sources or w.chance(3):
        e = expression(w)
        kind = kept(e)
        first, second = w.name("v"), w.name("v")
        w.add(f"{first} = {second} = {fit(w, e, kind)}")
        w.declare(first, kind)
        w.declare(second, kind)
        return
    text, item, length = w.pick(sources)
    first, rest = w.name("v"), w.name("v")
    w.add(f"{w.pick((f'{first}, *{rest}', f'*{rest}, {first}'))} = {text}")
    w.declare(first, item)
    if length > 1:
        w.declare(rest, ListOf(item, length - 1))


def _made(w: Writer, text: str, kind: Kind) -> None:
    name = w.name("v")
    w.add(f"{name} = {text}")
    w.declare(name, kind)


# ---------------------------------------------------------------- lists, dicts and strings


def of_a_list(w: Writer) -> None:
    """Something made of a list, or a list changed."""
    lists = w.of_type(ListOf)
    if not lists:
        return declare(w)
    text, kind, _ = w.pick(lists)
    other = w.pick([t for t, k, _ in lists if k.item == kind.item])
    same, twice = kind, ListOf(kind.item, 2 * kind.length)
    made: list[tuple[str, Kind]] = [
        (f"{text}[::-1]", same),
        (f"{text}[1:] + {other}[:1]", same),
        (f"[*{text}, *{other}]", ListOf(kind.item, kind.length + 1)),
        (f"{text} * 2", twice),
        (f"{text}.copy()", same),
        (f"list(reversed({text}))", same),
        (f"tuple({text})[:2]", TupleOf((kind.item,) * min(kind.length, 2))),
    ]
    changes: list[Callable[[], str]] = [
        lambda: f"{text} += [{value(w, kind.item)}]",
        lambda: f"{text}[-1:] = {other}",
        lambda: f"{text}.extend({other}[:1])",
        lambda: f"{text}.append({other}.pop(0)) or {other}.append({value(w, kind.item)})",
    ]
    if isinstance(kind.item, Number) and kind.item.shape == () and kind.item.bound.exact:
        made += [(f"sorted({text})", same), (f"{text}.count({value(w, kind.item)})", PYTHON_INT)]
        made += [
            (f"{w.pick(('max', 'min'))}({text}, key=lambda v: {w.pick(('-v', 'v', 'abs(v)'))})", kind.item)
        ]
        made += [(f"sorted({text}, reverse=True)", same)]
    if w.keeps or w.below(2):
        new = w.pick(made)
        return bind(w, *new) if isinstance(new[1], Number) else _made(w, *new)
    return w.add(w.pick(changes)())


def of_a_dict(w: Writer) -> None:
    """Something made of a dict, or a dict changed."""
    dicts = w.of_type(DictOf)
    if not dicts:
        return declare(w)
    text, kind, _ = w.pick(dicts)
    key, item = w.pick(kind.items)
    made: tuple[tuple[str, Kind], ...] = (
        (f"{text}.get({key!r})", item),
        (f"{text}.get('z', {text}[{key!r}])", item),
        (f"dict({text})", kind),
        (f"{{**{text}}}", kind),
        (f"list({text}.values())[0]", kind.items[0][1]),
        (f"[v for k, v in {text}.items() if k == {key!r}]", ListOf(item, 1)),
        (f"len({text})", PYTHON_INT),
        (f"{text}.setdefault({key!r}, 1)", item),
    )
    changes: tuple[Callable[[], str], ...] = (
        lambda: f"{text}.update({{{key!r}: {value(w, item)}}})",
        lambda: f"{text} |= {{{key!r}: {value(w, item)}}}",
        lambda: f"{text}[{key!r}] = {text}.pop({key!r})",
        lambda: f"{text}.setdefault('q', []).append({value(w, item)})",
    )
    if w.keeps or w.below(2):
        new = w.pick(made)
        return bind(w, *new) if isinstance(new[1], Number) else _made(w, *new)
    return w.add(w.pick(changes)())


def written(w: Writer) -> None:
    """A string made of exact numbers."""
    e = exact(w)
    text = w.pick(
        (
            f'f"{{{e.text}}}"',
            f'f"{{{e.text}:.2f}}"' if e.kind.letter in "iuf" else f"repr({e.text})",
            f"str({e.text})",
            f"'{{:>6}} {{}}'.format({integer(w)}, {e.text})",
            f"'%d of %s' % ({integer(w)}, {e.text})",
            f'"/".join(["a", str({e.text})])',
        )
    )
    _made(w, text.replace("\"{'", "\"{'"), TextKind())


# ---------------------------------------------------------------- arrays


def in_place(w: Writer) -> None:
    """A method or function of NumPy that stores into an array."""
    arrays = w.arrays()
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    one = len(kind.shape) == 1
    scalar = stored(w, kind, ())
    other = w.pick([t for t, k, _ in arrays if k.same_type(kind) and k.grade is kind.grade])
    choices = [f"{text}.fill({scalar})", f"np.copyto({text}, {other})", f"{text}.put([0, -1], {scalar})"]
    if kind.letter != "c":
        choices += [
            f"np.minimum({text}, {other}, out={text})",
            f"np.maximum({text}, {other}, out={text}[...])",
        ]
        choices += [f"{text}.sort()", f"{text}[::-1].sort()"] if one else [f"{text}.sort(axis=0)"]
    if kind.bound.exact:
        choices += [f"np.putmask({text}, {text} > 1, {other})", f"{text}[{text} == {scalar}] = {scalar}"]
    if kind.grade is Grade.WHOLE and kind.is_integer:
        choices += [f"np.add({text}, {other}, out={text})", f"np.multiply({text}, 3, out={text})"]
        choices += [f"np.add.at({text}, [0, 0, -1], {other}[:1])"] if one else []
    elif one and kind.letter in "if" and kind.bound.exact:
        choices += [f"np.maximum.at({text}, [0, -1, 0], {other}[0])", f"np.negative({text}, out={text})"]
    return w.add(w.pick(choices))


def computed_slice(w: Writer) -> None:
    """A part of an array whose bounds are computed: stored into, or reduced."""
    arrays = w.arrays(lambda k: len(k.shape) == 1)
    if not arrays:
        return declare(w)
    text, kind, _ = w.pick(arrays)
    bound = f"{integer(w, 0)} % {kind.shape[0] + 1}"
    part = w.pick((f"{bound}:", f":{bound}", f"-({bound}):", f"{bound}::-1", f"{bound}:3"))
    operator = augmented(w, kind) if w.chance(2) else None
    reduced = apply(Operation("{0}.sum()", ops.times(8)), known(text, kind))
    if w.below(2) and reduced is not None:
        e = known(f"{text}[{part}].sum()", reduced.kind, reduced.bound)
        return bind(w, fit(w, e, kept(e)), kept(e))
    return w.add(f"{text}[{part}] {operator or '= ' + stored(w, kind, ())}")


IDIOMS: tuple[Callable[[Writer], None], ...] = (
    comprehension,
    over_two,
    conditional_sum,
    unpacked,
    of_a_list,
    of_a_dict,
    written,
    in_place,
    in_place,
    computed_slice,
)
