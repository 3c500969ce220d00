"""`try` and `with`: handlers of exceptions that the program raises at run time.

In: the body of a `try`, which may raise under conditions of the run time. Out: a branch on whether it has raised. In its
arm the error cell is empty again, the slots that changed after the raise get their old contents (`Version`s; stores into
arrays were masked), and the handlers are branches on the number of the raise site, which says of which class the
exception is. A `finally` runs on the joined state with the error set aside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ....records import dataclass
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.errors import StagingError
from ...hlo.ir import Op, Value
from ...hlo.walk import callees, functions
from ...library.python.class_tests import is_among
from ...library.python.strings import known_exception
from ...ops import Compare, Select
from ...ops.host.draw import Draw
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.capacity import CapacityExceeded
from ...values.exceptions import ExceptionBuilder
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    Caught,
    Const,
    ErrorCell,
    ObjectCell,
    Ref,
    Unknown,
    Version,
)
from ...values.slots import Slot
from ...values.state import ERROR, Content
from ...values.walk import cells_of, rebuild
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..exceptions.raising import attempt, code_value, error_of, guarding, has_raised, merged_payload, number
from ..objects import objects
from ..state.frame import PythonRaise
from ..state.speculate import speculate
from .branches import infer_if, put_back, settle_alike, while_running

Body = Callable[[], None]
ENDS = StagingError, CapacityExceeded
"""Classes that end a run without being an exception of the program's: no handler and no `finally` sees them."""


@dataclass(slots=True, eq=False)
class _Thrown:
    """What a body has raised: the error cell after it, and by number the sites that may have raised.

    `places` gives for each number that of the place itself and the class of its exception. `exception`: what it
    certainly raises, if that is known.
    """

    engine: Engine
    error: ErrorCell
    places: dict[int, tuple[int, type[BaseException]]]
    exception: Abstract | None

    def numbers(self, kinds: Any) -> list[int]:
        """The sites whose exception is of these classes."""
        return [n for n, (_, c) in self.places.items() if issubclass(c, kinds)]

    def handled(self, handle: Callable[[_Thrown], None]) -> None:
        """Runs `handle` on what was raised, unless that is no exception of the program's."""
        ends = self.numbers(ENDS)
        own = {n: place for n, place in self.places.items() if n not in ends}
        self.when(ends, self.again, lambda: handle(replace(self, places=own)))

    def finally_(self, final: stage.Block) -> None:
        """Runs a `finally`, also where nothing was raised, unless what was raised is no exception of the program's."""
        e, ends = self.engine, self.numbers(ENDS)
        if not ends:
            _run_final(e, final)
            return
        ended = is_among(e, code_value(e, self.error.code), ends)
        infer_if(e, ended, e.current.id, lambda: None, lambda: _run_final(e, final))

    def when(self, numbers: Sequence[int], then: Body, orelse: Body) -> None:
        """Runs `then` if the exception is that of one of these sites, else `orelse`."""
        if not numbers:
            orelse()
        elif len(numbers) == len(self.places):
            then()
        else:
            predicate = is_among(self.engine, code_value(self.engine, self.error.code), numbers)
            infer_if(self.engine, predicate, self.engine.current.id, then, orelse)

    def caught(self, numbers: Sequence[int]) -> Caught:
        """The exception as a handler for these sites gets it."""
        payload = self.error.payload
        code = Array(code_value(self.engine, self.error.code), Form.PYTHON)
        values = [Array(value, Form.NDARRAY) for value in payload.values()]
        places = frozenset([(n, *self.places[n]) for n in numbers])
        origins = {origin for _, origin, _ in places}
        exception = self._instance(origins.pop()) if len(origins) == 1 else None
        remake = ExceptionBuilder(tuple(payload), self.engine.raises.sites.find)
        return Caught(remake, (code, *values), places, exception, self._known(places))

    def _known(
        self, places: frozenset[tuple[int, int, type[BaseException]]]
    ) -> frozenset[tuple[int, type[BaseException], tuple[Any, ...]]]:
        """The sites whose exception staged code has made of known arguments."""
        found = []
        for each, origin, cls in places:
            made = self.engine.raises.instances.get(origin)
            known = known_exception(self.engine, made.exception) if made is not None else None
            if known is not None:
                found.append((each, cls, known.args))
        return frozenset(found)

    def _instance(self, origin: int) -> Abstract | None:
        """The exception that staged code made at a site, of the payload; None if it refers to objects."""
        made = self.engine.raises.instances.get(origin)
        if made is None or cells_of(made.exception):
            return None
        given = {v: self.error.payload[k] for v, k in zip(made.values, made.keys, strict=True)}
        return rebuild(made.exception, lambda v: given.get(v, v))

    def again(self) -> None:
        """Raises once more what nothing has caught."""
        engine = self.engine
        replaced = error_of(engine).code != 0
        _still_raised(engine, self.error)
        raise PythonRaise(None if replaced else self.exception, engine.state.depth, 0)


def protected(e: Engine, body: Body, handle: Callable[[_Thrown], None], otherwise: Body) -> None:
    """Runs `body`, then `handle` on what it has raised, else `otherwise`. Nothing has been raised before."""
    frame, first, kept = e.current, e.raises.sites.next, len(error_of(e).versions)
    around = error_of(e).payload
    region, start = e.b.current, len(e.b.current.ops)
    with guarding(e):
        error = attempt(e, body)
    e.frame = frame
    pending = error_of(e)
    if error is None and pending.code == 0:
        otherwise()
        return
    exception = error.exception if error is not None and isinstance(pending.code, int) else None
    thrown = _Thrown(e, pending, _places(e, first, pending), exception)
    if not isinstance(pending.code, int) and len(thrown.numbers(ENDS)) < len(thrown.places):
        _refuse_draws(e, region.ops[start:])
        e.raises.catching.add(e.callees.body or e.root)
    raised, versions = has_raised(e), pending.versions[kept:]
    e.state.set(ERROR, ErrorCell(0, around, pending.versions[:kept]))

    def handling() -> None:
        _put_back_all(e, versions, raised)
        with _raised_while(e, pending):
            thrown.handled(handle)

    if error is not None:
        handling()
    else:
        infer_if(e, cast(Value, raised), frame.id, handling, otherwise)


def _put_back_all(e: Engine, versions: Sequence[Version], raised: Value | None) -> None:
    """Restores the contents of versions, in an arm in which `raised` holds."""
    for version in reversed(versions):
        if version.condition is raised:
            e.state.set(version.slot, version.content)
        else:
            put_back(e, version)


@contextmanager
def _raised_while(e: Engine, pending: ErrorCell) -> Iterator[None]:
    """Makes what is raised inside be raised while `pending` is being handled."""
    if pending.code == 0:
        yield
        return
    before, first = error_of(e), e.raises.sites.next
    handled = e.raises.sites.handle(tuple(pending.payload))
    held = {own: pending.payload[key] for key, own in handled.values}
    held[handled.number] = code_value(e, pending.code)
    e.state.set(ERROR, replace(before, payload={**before.payload, **held}))
    try:
        yield
    finally:
        e.raises.sites.handled(first, handled)
    after = error_of(e)
    if after.code == 0:
        e.state.set(ERROR, replace(after, payload=before.payload))


def _places(e: Engine, first: int, error: ErrorCell) -> dict[int, tuple[int, type[BaseException]]]:
    """The sites from `first` on that may have raised: what they need for their exception is there."""
    found: dict[int, tuple[int, type[BaseException]]] = {}
    for each, origin in e.raises.sites.numbers(first):
        site = e.raises.sites.at(origin)
        possible = not isinstance(error.code, int) or error.code == each
        if possible and all(key in error.payload for key in site.keys):
            found[each] = origin, site.cls
    return found


def _refuse_draws(e: Engine, ops: Sequence[Op]) -> None:
    """Raises PS606 for draws whose number depends on where the body raises, since later draws would differ."""
    for op in ops if e.effects.draws else ():
        for draw in _draws(op):
            assert isinstance(draw.kind, Draw)
            why = "it draws inside a `try`, and only the run time knows what of that runs"
            instead = "draw before the `try`, or use jax.random with a key"
            name = draw.kind.action.name
            raise DiagnosticError(NotServed(span=draw.span, name=name, why=why, instead=instead))


def _draws(op: Op) -> list[Op]:
    inner = [o for region in op.regions for o in region.walk()]
    called = [f for o in (op, *inner) for callee in callees(o) for f in functions(callee)]
    found = [op, *inner, *[o for f in called for o in f.body.walk()]]
    return [o for o in found if isinstance(o.kind, Draw)]


# ---------------------------------------------------------------- try


def try_(e: Engine, i: stage.Try) -> None:
    """`try: … except …: … else: … finally: …`"""
    while_running(e, e.current.id, lambda: _try(e, i))


def _try(e: Engine, i: stage.Try) -> None:
    if not i.final:
        _handled(e, i)
        return
    frame, before = e.frame, error_of(e)
    kept, first = len(before.versions), e.raises.sites.next
    with guarding(e):
        error = attempt(e, lambda: _handled(e, i))
    e.frame = frame
    late = settle_alike(e, kept)
    pending = error_of(e)
    thrown = _Thrown(e, pending, _places(e, first, pending), None)
    raised = has_raised(e) if late and error is None else None
    e.state.set(ERROR, replace(before, versions=pending.versions))
    newest = {v.slot: e.state.slots[v.slot] for v in late}
    for version in reversed(late):
        put_back(e, version)
    joined = {slot: e.state.slots[slot] for slot in newest}
    if raised is not None and _touches(e, i.final, joined):
        for slot, content in newest.items():
            e.state.set(slot, content)
        _final_apart(e, i.final, thrown, raised, late)
        return
    with _raised_while(e, pending):
        thrown.finally_(i.final)
    replaced = error_of(e).code != 0
    _still_raised(e, pending)
    untouched = {slot for slot, content in joined.items() if e.state.slots[slot] is content}
    for slot in untouched:
        e.state.set(slot, newest[slot])
    cell = error_of(e)
    versions = (*cell.versions, *[v for v in late if v.slot in untouched])
    e.state.set(ERROR, replace(cell, versions=versions))
    if error is not None:
        raise PythonRaise(None if replaced else error.exception, e.state.depth, 0)


def _run_final(e: Engine, final: stage.Block) -> None:
    """Runs the block of a `finally`."""
    finals = e.current.finals
    finals.append(len(e.current.handled))
    try:
        e.run_block(final)
    finally:
        finals.pop()


def _touches(e: Engine, final: stage.Block, joined: Mapping[Slot, Content]) -> bool:
    """True if a `finally` reads or changes one of these that has no common structure; found by a speculation."""
    apart = [slot for slot, content in joined.items() if isinstance(content, Unknown)]
    if not apart:
        return False
    with speculate(e) as trial:
        attempt(e, lambda: _run_final(e, final))
        return bool(trial.refused) or any(e.state.slots[slot] is not joined[slot] for slot in apart)


def _final_apart(
    e: Engine, final: stage.Block, thrown: _Thrown, raised: Value, late: Sequence[Version]
) -> None:
    """Runs a `finally` in a branch of its own where lists and dicts have other lengths if the body has raised."""

    def after_raise() -> None:
        _put_back_all(e, late, raised)
        with _raised_while(e, thrown.error):
            thrown.finally_(final)
        thrown.again()

    infer_if(e, raised, e.current.id, after_raise, lambda: _run_final(e, final))


def _still_raised(e: Engine, pending: ErrorCell) -> None:
    """Restores what was raised, unless `finally` or `__exit__` has raised something itself."""
    b, now = e.b, error_of(e)
    code, payload = pending.code, pending.payload
    if code == 0:
        return
    if now.code != 0:
        own = b.op(Compare("NE"), code_value(e, now.code), number(e, 0))
        code = b.op(Select(), own, code_value(e, now.code), code_value(e, code))
        payload = merged_payload(e, own, now.payload, payload)
    e.state.set(ERROR, ErrorCell(code, payload, now.versions))


def _handled(e: Engine, i: stage.Try) -> None:
    """The body of a `try`, then the handler of what it raises, or `else`."""
    if not i.handlers:
        e.run_block(i.body)
        return
    protected(
        e,
        lambda: e.run_block(i.body),
        lambda thrown: _dispatch(e, i.handlers, thrown),
        lambda: e.run_block(i.orelse),
    )


def _dispatch(e: Engine, handlers: Sequence[stage.Handler], thrown: _Thrown) -> None:
    """The first handler that catches what was raised."""
    if not handlers:
        thrown.again()
    handler, *others = handlers
    e.run_block(handler.test)
    kinds: Any = BaseException
    if handler.kind is not None:
        kinds = e.known(e.get(handler.kind), "the exception that is caught")
        if not all(isinstance(k, type) and issubclass(k, BaseException) for k in _listed(kinds)):
            e.raise_(TypeError("catching classes that do not inherit from BaseException is not allowed"))
    numbers = thrown.numbers(kinds)
    thrown.when(
        numbers,
        lambda: _run_handler(e, handler, thrown.caught(numbers)),
        lambda: _dispatch(e, others, thrown),
    )


def _listed(kinds: Any) -> tuple[Any, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def _run_handler(e: Engine, handler: stage.Handler, caught: Caught) -> None:
    e.put(handler.target, caught)
    frame = e.current
    outer, noted = frame.handled, frame.noted
    frame.handled = (*outer, caught)
    frame.depths.append(e.state.depth)
    try:
        e.run_block(handler.body)
    finally:
        frame.handled = outer
        frame.depths.pop()
        for first, handled in reversed(frame.noted[len(noted) :]):
            e.raises.sites.handled(first, handled)
        frame.noted = noted


# ---------------------------------------------------------------- with


_SETTINGS = ("errstate", "nullcontext", "ExtendNameStackContextManager", "autocast")
"""Context managers of NumPy, JAX and Python that set what the compiler reads, for the duration of the block."""
_JAX_SETTINGS = frozenset(
    {
        "jax_check_tracer_leaks",
        "jax_default_matmul_precision",
        "jax_default_prng_impl",
        "jax_enable_checks",
        "jax_enable_x64",
        "jax_explain_cache_misses",
        "jax_log_compiles",
        "jax_numpy_dtype_promotion",
        "jax_threefry_partitionable",
    }
)
"""Settings of JAX that the compiler reads, and some that change no result."""


def _is_setting(manager: object) -> bool:
    """True for a context manager whose effect the compiler applies while it infers the block."""
    name = type(manager).__qualname__
    if name == "StateContextManager":  # of JAX's settings
        return getattr(getattr(manager, "state", None), "name", None) in _JAX_SETTINGS
    return name in _SETTINGS


def with_(e: Engine, i: stage.With) -> None:
    """`with manager as entered: …`"""
    manager = e.get(i.manager)
    cell = e.cell(manager) if isinstance(manager, Ref) else None
    if isinstance(cell, ObjectCell) and cell.cls is contextlib.suppress:
        kinds = e.known(cell.fields["_exceptions"], "the exceptions that are suppressed")
        e.put(i.entered, NONE)
        while_running(e, e.current.id, lambda: _suppressing(e, i, kinds))
        return
    enter = objects.special_method(e, manager, "__enter__")
    leave = objects.special_method(e, manager, "__exit__")
    if enter is not None and leave is not None:
        e.put(i.entered, e.call(enter, []))
        while_running(e, e.current.id, lambda: _with_exit(e, i, leave))
        return
    if isinstance(manager, Const) and _is_setting(manager.value):
        before = np.geterr()
        with manager.value as entered, e.settings():
            _check_error_states(i, before)
            e.put(i.entered, e.constant_object(entered))
            e.run_block(i.body)
        return
    what = describe(manager, e.state)
    if isinstance(manager, Const) and (setting := getattr(manager.value, "state", None)) is not None:
        what = f"JAX's setting {getattr(setting, 'name', what)}"
    raise DiagnosticError(HandlerAtRunTime(span=i.span, what=f"`with` on {what}"))


def _check_error_states(i: stage.With, before: Mapping[str, Any]) -> None:
    """PS308 for an `np.errstate` by which floating-point errors do more than warn."""
    for kind, state in np.geterr().items():
        if state != before.get(kind) and state not in ("ignore", "warn"):
            what = f"`np.errstate({kind}={state!r})`"
            raise DiagnosticError(HandlerAtRunTime(span=i.span, what=what))


def _suppressing(e: Engine, i: stage.With, kinds: Any) -> None:
    """The body of a `with contextlib.suppress(…)`."""

    def handle(thrown: _Thrown) -> None:
        thrown.when(thrown.numbers(kinds), lambda: None, thrown.again)

    protected(e, lambda: e.run_block(i.body), handle, lambda: None)


def _with_exit(e: Engine, i: stage.With, leave: Abstract) -> None:
    """The body of a `with`, and the manager's own `__exit__`, which may swallow what the body raises."""
    trace = Unknown(HandlerAtRunTime(span=i.span, what="`__exit__` that asks for the traceback"))

    def handle(thrown: _Thrown) -> None:
        numbers = thrown.numbers(BaseException)
        thrown.when(numbers, lambda: leave_with(thrown, thrown.caught(numbers)), thrown.again)

    def leave_with(thrown: _Thrown, caught: Caught) -> None:
        cls: Abstract = Unknown(HandlerAtRunTime(span=i.span, what="`__exit__` that asks for the class"))
        if len(caught.classes) == 1:
            cls = Const(next(iter(caught.classes)))
        e.b.span = i.span
        swallowed = e.truth(e.call(leave, [cls, caught, trace]))
        if not isinstance(swallowed, Const):
            infer_if(e, e.predicate(swallowed), e.current.id, lambda: None, thrown.again)
        elif not swallowed.value:
            thrown.again()

    def otherwise() -> None:
        e.b.span = i.span
        e.call(leave, [NONE, NONE, NONE])

    protected(e, lambda: e.run_block(i.body), handle, otherwise)
