"""Trying something and taking it back: what each field of the engine is afterwards, as its class declares."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pystage
from infer.engines import Watch
from pystage.compiler.analysis.ranges import full
from pystage.compiler.diagnostics.codes_constant import NotKnown
from pystage.compiler.diagnostics.diagnostic import DiagnosticError
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.ir import Region, Value
from pystage.compiler.hlo.types import BOOL, INT64, ArrayType
from pystage.compiler.infer.interpreter import Interpreter
from pystage.compiler.infer.state.frame import CalleeScope, Frame
from pystage.compiler.infer.state.loop import Active
from pystage.compiler.infer.state.raises import TryBody
from pystage.compiler.infer.state.speculate import commit_unless, speculate
from pystage.compiler.ops import Add, Compare, Constant
from pystage.compiler.speculation import Balanced, Current, Declared, Fixed, Forked, Grows, Journaled, Nested
from pystage.compiler.values.demand import LoopDecisions
from pystage.compiler.values.identity import Identity
from pystage.compiler.values.lattice import NONE, Const, ListCell, Ref
from pystage.compiler.values.state import ERROR


class Back(Exception):
    """What takes back."""


class Onward(Exception):
    """What does not."""


def new_engine() -> Interpreter:
    return Interpreter(True, LoopDecisions())


def fields_of(obj: Any) -> dict[str, Any]:
    """All attributes that an object has itself."""
    found = dict(getattr(obj, "__dict__", {}))
    for cls in type(obj).__mro__:
        names = cls.__dict__.get("__slots__", ())
        found |= {n: getattr(obj, n) for n in names if hasattr(obj, n)}
    return found


def parts_of(obj: Any) -> list[Any]:
    """An object, and the parts that it declares, with theirs."""
    inner = [getattr(obj, name) for name in type(obj).SPECULATION.parts]
    return [obj, *[part for each in inner for part in parts_of(each)]]


def frame() -> Frame:
    return Frame(1, None, {}, "")  # type: ignore[arg-type]


SOME = frame()
ALONE = [
    frame(),
    CalleeScope(Region(), [], 0, 0, frozenset()),
    TryBody(0, set()),
    Active(0, {}, {}, Identity(of_loop=True), None),
]
"""What the engine holds one of for each function, loop or `try` that is being inferred."""


# -- every field is declared


@pytest.mark.parametrize("obj", [*parts_of(new_engine()), *ALONE], ids=lambda obj: type(obj).__name__)
def test_every_field_is_declared(obj: Any) -> None:
    declared = type(obj).SPECULATION
    assert set(declared) == set(fields_of(obj))
    assert all(isinstance(each, Declared) for each in declared.values())


@pytest.mark.parametrize("obj", [*parts_of(new_engine()), *ALONE], ids=lambda obj: type(obj).__name__)
def test_what_grows_says_why_that_is_safe(obj: Any) -> None:
    assert all(each.why for each in type(obj).SPECULATION.values() if isinstance(each, Grows))


def test_a_field_that_holds_state_of_its_own_is_a_part() -> None:
    """What declares fields is declared as a part by something, or it would not be taken back."""
    parts = parts_of(new_engine())
    held = [value for obj in parts for value in fields_of(obj).values()]
    assert {id(value) for value in held if hasattr(type(value), "SPECULATION")} <= set(map(id, parts))


def test_what_undoes_itself_can() -> None:
    engine = new_engine()
    for obj in parts_of(engine):
        if type(obj).SPECULATION.journaled and obj is not engine.errors:
            mark = obj.begin()
            obj.commit(mark)
            obj.roll_back(obj.begin())


# -- each field does what it declares


def tables() -> list[tuple[str, str, Declared]]:
    """The fields of the engine and its parts whose declarations say what becomes of a change."""
    return [
        (type(part).__name__, name, declared)
        for part in parts_of(new_engine())
        for name, declared in type(part).SPECULATION.items()
        if not isinstance(declared, Nested | Fixed | Balanced | Journaled)
    ]


def grown(value: Any) -> Any:
    """The same as `value`, with something more; changed in place where it can be."""
    match value:
        case bool():
            return True
        case int() | float():
            return value + 1
        case dict():
            value["more"] = "more"
        case set():
            value.add("more")
        case list():
            value.append("more")
        case None:
            return SOME
        case _:
            pytest.skip("it only grows in its own ways")
    return value


@pytest.mark.parametrize(
    ("cls", "name", "declared"), tables(), ids=lambda x: str(x) if isinstance(x, str) else ""
)
@pytest.mark.parametrize("raises", [False, True])
def test_a_table_is_left_as_its_declaration_says(
    cls: str, name: str, declared: Declared, raises: bool
) -> None:
    engine = new_engine()
    (part,) = [p for p in parts_of(engine) if type(p).__name__ == cls]
    before = copy.copy(getattr(part, name))

    def change() -> None:
        setattr(part, name, grown(getattr(part, name)))

    if raises:
        with pytest.raises(Back), commit_unless(engine, Back):
            change()
            raise Back
    else:
        with speculate(engine):
            change()
    after = getattr(part, name)
    if isinstance(declared, Forked | Current):
        assert after == before
    else:
        assert after == grown(before)


def number(engine: Interpreter, value: int) -> Value:
    return engine.b.op(Constant(np.asarray(value)))


def fill(engine: Interpreter) -> None:
    """Does something to all that is taken back."""
    engine.state.set((1, "x"), NONE)
    engine.state.set(ERROR, engine.state.slots[ERROR])
    engine.state.new_cell(ListCell(()))
    value = engine.b.op(Add(), number(engine, 3), number(engine, 4))
    less = engine.b.op(Compare("LT"), value, number(engine, 10))
    engine.intervals.assume(less, True)
    engine.report(NotKnown(span=Span("f", 1, 1, 1, 2), what="x"))
    engine.frame = frame()
    engine.b.span = Span("f", 2, 1, 2, 2)


def seen(engine: Interpreter) -> Any:
    """All that is taken back."""
    region, shared = engine.b.open[-1]
    return (
        dict(engine.state.slots),
        [dict(journal) for journal in engine.state.journals],
        list(region.ops),
        dict(shared),
        [dict(facts) for facts in engine.intervals.facts],
        list(engine.errors.found),
        list(engine.errors.reasons),
        engine.frame,
        engine.b.span,
    )


def prepared() -> Interpreter:
    engine = new_engine()
    engine.state.set((1, "y"), Const(1))
    number(engine, 3)
    engine.frame = frame()
    return engine


def test_a_speculation_is_taken_back() -> None:
    engine = prepared()
    before = seen(engine)
    with speculate(engine) as trial:
        fill(engine)
        assert len(trial.refused) == 1
    assert seen(engine) == before
    assert len(trial.refused) == 1  # it is remembered what was found


def test_a_speculation_is_committed() -> None:
    engine, other = prepared(), prepared()
    with speculate(engine) as trial:
        fill(engine)
        trial.commit()
    fill(other)
    assert set(engine.state.slots) == set(other.state.slots)
    assert len(engine.root.ops) == len(other.root.ops) and len(engine.errors.found) == 1
    assert list(engine.intervals.facts[0].values()) == list(other.intervals.facts[0].values())
    assert engine.b.span == other.b.span


def test_an_operation_that_is_taken_back_is_not_shared() -> None:
    engine = prepared()
    with speculate(engine):
        dropped = number(engine, 5)
        shared = number(engine, 3)
    assert number(engine, 5) is not dropped
    assert number(engine, 3) is shared


def test_facts_that_are_taken_back_say_nothing() -> None:
    engine = prepared()
    value = engine.root.add_param(ArrayType(INT64))
    ten = number(engine, 10)
    less = engine.b.op(Compare("LT"), value, ten)
    with speculate(engine):
        engine.intervals.assume(less, True)
        assert engine.intervals(value) == (full(INT64)[0], 9) and engine.intervals.decides(less) is True
    assert engine.intervals(value) == full(INT64) and engine.intervals.decides(less) is None
    with speculate(engine) as trial:
        engine.intervals.assume(less, True)
        trial.commit()
    assert engine.intervals(value) == (full(INT64)[0], 9)


@pytest.mark.parametrize("exception", [Back, Onward])
def test_a_block_that_is_kept_is_taken_back_by_its_exception_alone(exception: type[Exception]) -> None:
    engine = prepared()
    before = seen(engine)
    with pytest.raises(exception), commit_unless(engine, Back):
        fill(engine)
        raise exception
    assert (seen(engine) == before) == (exception is Back)
    assert not engine.state.journals and not engine.state.speculations


def test_an_exception_that_leaves_a_speculation_leaves_its_diagnostics() -> None:
    engine = prepared()
    before = seen(engine)
    with pytest.raises(DiagnosticError), speculate(engine):
        fill(engine)
        raise DiagnosticError(engine.errors.found[0])
    assert len(engine.errors.found) == 1
    engine.errors.forget(0)
    assert seen(engine) == before


# -- speculations in others, in forks, in functions


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("outer", [False, True])
def test_nested_speculations(inner: bool, outer: bool) -> None:
    engine = prepared()
    begin = seen(engine)
    with speculate(engine) as first:
        engine.state.set((1, "a"), NONE)
        middle = seen(engine)
        with speculate(engine) as second:
            fill(engine)
            end = seen(engine)
            if inner:
                second.commit()
        assert (seen(engine)[2:] == end[2:]) if inner else (seen(engine) == middle)
        if outer:
            first.commit()
    if outer:
        assert (1, "a") in engine.state.slots and ((1, "x") in engine.state.slots) == inner
    else:
        assert seen(engine) == begin


def test_a_speculation_around_regions_and_forks_that_an_exception_leaves() -> None:
    engine = prepared()
    before = seen(engine)
    condition = engine.root.add_param(ArrayType(BOOL))
    with pytest.raises(Back), commit_unless(engine, Back):
        fill(engine)
        with (
            engine.state.fork(),
            engine.b.region(Region()),
            engine.intervals.under(condition, True),
            engine.under_condition(),
        ):
            fill(engine)
            with speculate(engine):
                fill(engine)
                raise Back
    assert seen(engine) == before and engine.b.depth == 1


def test_a_speculation_in_a_fork_does_not_change_what_the_fork_yields() -> None:
    engine = prepared()
    outer, inner = Const(2), Const(3)
    with engine.state.fork() as changes, engine.b.region(Region()):
        engine.state.set((1, "y"), outer)
        with speculate(engine):
            engine.state.set((1, "y"), inner)
            engine.state.set((1, "z"), inner)
    assert list(changes) == [(1, "y")] and changes[1, "y"] is outer


def test_a_speculation_in_a_callee_leaves_the_frame_of_its_caller() -> None:
    engine = prepared()
    caller = engine.frame
    assert caller is not None
    caller.handled = (NONE,)
    body = Region()
    with speculate(engine):
        with (
            engine.state.fork(),
            engine.b.isolated(body),
            engine.callees.enter(body, 0, 0, frozenset()) as scope,
        ):
            engine.frame = Frame(2, None, {}, "", caller=caller)  # type: ignore[arg-type]
            with speculate(engine):
                engine.frame.handled = (NONE, NONE)
                number(engine, 5)
            assert engine.frame.id == 2 and not engine.frame.handled and not body.ops
            scope.crossed = True
        caller.handled = ()
        caller.noted = ((1, None),)  # type: ignore[assignment]
    assert engine.frame is caller and caller.handled == (NONE,) and caller.noted == ()
    assert not engine.callees.open and engine.b.depth == 1


def test_numbers_are_not_used_again() -> None:
    engine = prepared()
    with speculate(engine):
        cell, number, name = (
            engine.state.cell_number(),
            engine.state.new_frame(),
            engine.callees.fresh_name("f"),
        )
    assert engine.state.cell_number() > cell and engine.state.new_frame() > number
    assert engine.callees.fresh_name("f") != name


def test_what_was_read_of_the_environment_stays_read() -> None:
    engine = prepared()
    array = np.arange(3.0)
    namespace = {"array": array}
    with speculate(engine):
        ref = engine.externals.global_variable(namespace, "array")
    assert isinstance(ref, Ref) and engine.externals.global_variable(namespace, "array") == ref
    assert engine.state.get(ref.cell).value is engine.root.params[0]


# -- in whole programs


def test_a_thrown_away_pass_leaves_no_operations() -> None:
    """The first pass over the body takes `total` for an int."""

    def f(x: np.ndarray) -> Any:
        total = 0
        for i in range(300):
            total = total + x[i] * 0.5
        return total

    watch = Watch(f, np.ones(300))
    assert watch.body_passes == [2] or watch.body_passes == [1]
    loops = [op for op in watch.engines[-1].root.ops if op.regions]
    assert len(loops) == 1


def test_how_an_exception_is_made_is_a_speculation() -> None:
    """Nothing stays of an `__init__` that ends by an exception of its own."""

    class Own(Exception):
        def __init__(self, value: Any) -> None:
            self.value = value
            if value > 1.5:
                raise TypeError("from __init__")

    def f(x: np.ndarray) -> Any:
        try:
            if x[0] > 0:
                raise Own(x[0])
        except Own as error:
            return error.value + 1
        except TypeError:
            return -x[0]
        return x[0]

    for value in (-1.0, 1.0, 2.0):
        x = np.array([value])
        assert pystage.compile(f, fallback="error")(x) == f(x)


class Other(np.ndarray):
    """What is not staged."""


def holders() -> dict[str, Any]:
    """Objects that hold something that is not staged, as a function may find them in its environment."""
    bad = np.zeros(3).view(Other)
    cyclic: list[Any] = []
    cyclic += [[cyclic], bad]
    return {
        "list": [1.0, 2.0, bad],
        "dict": {"a": 1.0, "b": bad},
        "nested": ([1.0], [[2.0], bad]),
        "cyclic": cyclic,
        "array": bad,
    }


@pytest.mark.parametrize("name", holders())
def test_what_is_refused_in_a_pass_is_refused_in_the_next(name: str) -> None:
    """The first pass over the body finds `total` to be of another type than guessed, and is thrown away."""
    holder = holders()[name]

    def f(x: np.ndarray) -> Any:
        total = 0
        for _ in range(300):
            total = total + 0.5
            x[0] = len(holder)
        return x[0], total

    with pytest.raises(pystage.StagingError, match=r"PS605.*Other"):
        pystage.compile(f, fallback="error")(np.ones(3))


def test_what_is_read_of_the_environment_is_read_as_a_whole() -> None:
    engine = prepared()
    cyclic = holders()["cyclic"]
    namespace = {"cyclic": cyclic, "inner": cyclic[0]}
    slots = dict(engine.state.slots)
    cells = {n: copy.copy(getattr(engine.externals, n)) for n in ("cells", "initial", "captured")}
    for name in ("cyclic", "inner", "cyclic"):
        with pytest.raises(DiagnosticError):
            engine.externals.global_variable(namespace, name)
    assert {n: getattr(engine.externals, n) for n in cells} == cells and engine.state.slots == slots
