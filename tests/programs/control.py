"""Random statements with a body: branches, loops with every jump, nested functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .computed_slices import PARTS, part_sources, reduced
from .counters import accumulate, collect, count, keep, key_sources, read, trips
from .expressions import PYTHON_INT, condition, exact, expression, fit, integer, kept, leaf
from .idioms import IDIOMS
from .kinds import COUNT, DictOf, Form, Grade, Kind, ListOf, Number
from .statements import STATEMENTS, raising, result
from .writer import Callee, Scope, Variable, Writer

DEEPEST = 3
"""How deep statements nest."""


def body(w: Writer, most: int) -> None:
    """At least one statement, at most so many."""
    for i in range(most):
        if not w.statement(lambda: _statement(w, first=i == 0)):
            return


def _statement(w: Writer, first: bool) -> bool:
    """Writes a statement; False if there is none."""
    if not first and w.below(6) == 0:
        return False
    if w.statements <= 0:
        return False
    w.statements -= 1
    form = w.below(20)
    if form < (8 if w.looped else 13) or w.depth > DEEPEST:
        w.pick(LOOPED if w.looped and w.below(2) else (*STATEMENTS, *IDIOMS, *LOOPED))(w)
    else:
        w.pick(LOOPS if w.looped and w.below(2) else COMPOUND)(w)
    return True


# ---------------------------------------------------------------- branches


def branch(w: Writer) -> None:
    """`if`, with `elif` and `else` or without."""
    with w.block(f"if {condition(w)}:"):
        arm(w)
    if w.chance(4):
        with w.block(f"elif {condition(w)}:"):
            arm(w)
    if w.chance(2):
        with w.block("else:"):
            arm(w)


def arm(w: Writer) -> None:
    """The body of a branch, which may end with a jump."""
    body(w, 3)
    if w.scope.loops and w.chance(4):
        w.add(w.pick(("break", "continue")))
    elif w.scope.results and w.chance(5):
        result(w)


def matched(w: Writer) -> None:
    """`match` of an integer, or of two numbers."""
    if w.chance(3):
        return _matched_pair(w)
    with w.block(f"match {integer(w)}:"):
        for pattern in ("0 | 1", f"_ if {condition(w, 0)}", "_"):
            with w.block(f"case {pattern}:"):
                body(w, 2)


def _matched_pair(w: Writer) -> None:
    a, b = exact(w), exact(w, 0)
    first, second, rest = w.name("v"), w.name("v"), w.name("v")
    with w.block(f"match {w.pick(('({}, {})', '[{}, {}]')).format(a.text, b.text)}:"):
        with w.block(f"case {w.pick(('(0, 1)', '[1, *_]', '(0 | 1, 2)'))}:"):
            body(w, 2)
        with w.block(f"case ({first}, {second}) if {first} {w.pick(('>', '!='))} {second}:"):
            w.declare(first, kept(a), assignable=False)
            w.declare(second, kept(b), assignable=False)
            body(w, 2)
        with w.block(f"case [_, *{rest}]:"):
            body(w, 2)


def held(w: Writer) -> None:
    """`with`, which puts back what its body stores into an array."""
    arrays = w.arrays()
    if not arrays:
        return counted(w)
    text, kind, _ = w.pick(arrays)
    name = w.name("v")
    with w.block(f"with Restored({text}, {w.pick(('False', 'True'))}) as {name}:"):
        w.declare(name, kind, assignable=False)
        body(w, 3)
    return None


def handled(w: Writer) -> None:
    """`try` around what may raise."""
    with w.block("try:"):
        body(w, 2)
        raising(w)
    name = w.name("e")
    classes = w.pick(
        ("ValueError", "(IndexError, ValueError)", "ZeroDivisionError", "Exception", "LookupError")
    )
    with w.block(f"except {classes} as {name}:"):
        arm(w)
        if w.chance(4):
            w.add(
                w.pick(
                    ("raise", f"raise KeyError(str({name}))", f"raise Rejected({name}.args, 1) from {name}")
                )
            )
    if w.chance(3):
        with w.block("else:"):
            body(w, 2)
    if w.chance(3):
        with w.block("finally:", loops=0, results=()):
            body(w, 2)


# ---------------------------------------------------------------- loops


def counted(w: Writer) -> None:
    """`for` over a range."""
    i = w.name("i")
    ranges = (
        "3",
        "1",
        "2, -1, -1",
        "0, 5, 2",
        f"{integer(w, 0)} % 4",
        f"1, {integer(w, 0)} % 5",
        f"min({integer(w, 0)}, 3)",
        trips(w),
        trips(w),
        *([trips(w)] * 8 if w.looped else []),
    )
    around = w.pick(("range({})", "range({})", "reversed(range({}))"))
    _loop(w, f"for {i} in {around.format(w.pick(ranges))}:", {i: COUNT})


def over(w: Writer) -> None:
    """`for` over an array, a list or a dict."""
    changing = [*key_sources(w), *part_sources(w)]
    if changing and w.below(2):
        return _loop(w, *w.pick(changing))
    i, item = w.name("i"), w.name("v")
    arrays = w.numbers(lambda k: k.form.has_shape and k.shape != ())
    sources: list[tuple[str, Kind]] = [(text, _row(kind)) for text, kind, _ in arrays]
    sources += [(f"{text}[:]", kind.item) for text, kind, _ in w.of_type(ListOf)]  # the body may append
    if not sources:
        return counted(w)
    text, kind = w.pick(sources)
    form = w.below(6)
    if form == 4 and (dicts := w.of_type(DictOf)):
        text, known_dict, _ = w.pick(dicts)
        key, value = known_dict.items[0]
        _loop(w, f"for {i}, {item} in list({text}.items())[:1]:", {item: value})
    elif form < 2:
        _loop(w, f"for {item} in {text}:", {item: kind})
    elif form == 2:
        _loop(w, f"for {i}, {item} in enumerate({text}):", {i: COUNT, item: kind})
    elif form == 3:
        text = text.removesuffix("[:]")
        _loop(w, f"for {i}, {item} in zip(range(4), {text}):", {i: COUNT, item: kind})
    else:
        _loop(w, f"for {item} in reversed({text}):", {item: kind})
    return None


def _row(kind: Number) -> Number:
    """What a loop over an array gives."""
    rest = kind.shape[1:]
    return Number(kind.form if rest or kind.form is Form.JAX else Form.NUMPY, kind.dtype, rest, kind.grade)


def changing(w: Writer) -> None:
    """A loop whose trips find what the last one changed: counters, and what is kept under them."""
    if not w.numbers(lambda kind: kind.grade is Grade.COUNT):
        count(w)
    i = w.name("i")
    with w.block(f"for {i} in range({trips(w)}):", loops=w.scope.loops + 1):
        w.declare(i, COUNT, assignable=False)
        steps = [step for step in (collect, _keeping, accumulate, count) if w.below(4)]
        if w.chance(3):
            steps.insert(w.below(len(steps) + 1), lambda w: body(w, 2))
        if w.chance(4):
            steps.reverse()
        for step in steps:
            w.statement(lambda step=step: step(w))  # type: ignore[misc]
        if w.chance(4):
            with w.block(f"if {condition(w)}:"):
                w.add(w.pick(("break", "continue")))


def _keeping(w: Writer) -> None:
    """A loop that keeps something under its counter."""
    i = w.name("i")
    around = w.pick(("range({})", "range({})", "reversed(range({}))"))
    with w.block(f"for {i} in {around.format(trips(w))}:", loops=w.scope.loops + 1):
        w.declare(i, COUNT, assignable=False)
        w.statement(lambda: keep(w))
        body(w, 2)


def repeated(w: Writer) -> None:
    """`while`, with a counter of its own so that it ends."""
    i = w.name("i")
    form = w.below(3)
    w.add(f"{i} = {'3' if form == 1 else '0'}")
    counter = {i: COUNT}
    if form == 0:
        _loop(w, f"while {i} < {w.pick(('3', '2'))} and ({condition(w)}):", counter, [f"{i} += 1"])
    elif form == 1:
        _loop(w, f"while ({i} := {i} - 1) > 0:", counter)
    else:
        _loop(w, "while True:", counter, [f"{i} += 1", f"if {i} > {integer(w, 0)} % 4: break"])


def _loop(w: Writer, header: str, names: Mapping[str, Kind], start: list[str] | None = None) -> None:
    """A loop whose body knows these names more, and begins with these lines."""
    with w.block(header, loops=w.scope.loops + 1):
        for line in start or []:
            w.add(line)
        for name, kind in names.items():
            w.declare(name, kind, assignable=False)
        body(w, 4)
    if w.chance(6):
        with w.block("else:"):
            body(w, 2)


# ---------------------------------------------------------------- functions


def define(w: Writer) -> None:
    """A nested function, which may change what it captures, and is called."""
    name = w.name("f")
    params = tuple(kept(leaf(w)) for _ in range(w.below(3)))
    defaults = w.below(len(params) + 1)
    rest = w.chance(4)
    of_result = kept(expression(w, 1))
    written = [f"p{i}" for i in range(len(params) - defaults)]
    for i in range(len(params) - defaults, len(params)):
        written.append(f"p{i}={fit(w, leaf(w), params[i])}")
    if rest:
        written.append("*rest")
    if w.chance(5):
        _lambda(w, name, params, written, rest, of_result, defaults)
        return
    outer = w.scope
    shared = [
        n for n, v in outer.variables.items() if v.assignable and n[0] in "vm" and isinstance(v.kind, Number)
    ]
    nonlocals = {w.pick(shared)} if shared and w.chance(2) else set()
    inner = Scope(
        {n: Variable(v.kind, n in nonlocals) for n, v in outer.variables.items()},
        list(outer.callees),
        0,
        (of_result,),
        frozenset(outer.variables) - nonlocals,
    )
    with w.block(f"def {name}({', '.join(written)}):"):
        w.scope = inner
        if nonlocals:
            w.add(f"nonlocal {', '.join(nonlocals)}")
        for i, kind in enumerate(params):
            w.declare(f"p{i}", kind)
        if rest and w.chance(2):
            w.add("p9 = len(rest)")
            w.declare("p9", PYTHON_INT)
        body(w, 3)
        result(w)
    w.scope.callees.append(Callee(name, params, defaults, rest, of_result))


def _lambda(
    w: Writer,
    name: str,
    params: tuple[Number, ...],
    written: list[str],
    rest: bool,
    of_result: Number,
    defaults: int,
) -> None:
    outer = w.scope
    w.scope = Scope(dict(outer.variables), list(outer.callees))
    for i, kind in enumerate(params):
        w.declare(f"p{i}", kind)
    text = fit(w, expression(w), of_result)
    w.scope = outer
    w.add(f"{name} = lambda {', '.join(written)}: {text}")
    outer.callees.append(Callee(name, params, defaults, rest, of_result))


LOOPED: tuple[Callable[[Writer], None], ...] = (count, count, accumulate, keep, keep, *PARTS)
"""What loops change, what they keep under their counters, and slices that these bound."""
LOOPS = (changing, changing, counted, over, branch)
SOURCES = (read, read, reduced, reduced)
"""The expressions of these."""
COMPOUND: tuple[Callable[[Writer], None], ...] = (
    branch,
    branch,
    counted,
    over,
    repeated,
    branch,
    define,
    matched,
    handled,
    held,
    changing,
)
