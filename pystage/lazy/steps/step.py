"""`lazy.step`: records a repeated step once and then replays its program.

A step promises to do the same each time, on other arrays. Its first call for arguments of some kinds is recorded, and so is
the second, to compare; later ones run the program.
"""

from __future__ import annotations

import functools
import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import MethodType, TracebackType
from typing import Any

from ...autocasting import product_type
from ...compiler.values.instances import instance_fields
from ..control import sync
from ..counting import counts
from ..devices import default_device
from ..graph import is_differentiating
from ..recorder import floats_raise
from .arguments import Call, Structure, delete_attribute, rebuilt, set_attribute, shares_memory
from .captured import Captured, draws_of
from .program import StepProgram
from .recording import Abandoned, Recording, StepError, recorded, thread

PROGRAMS = 128
"""The number of programs that a step keeps; the least recently used are evicted first."""
_TRIES = 3
"""How often a step is recorded before another thread's draws count as its own."""


class _Known:
    """A program, and the captured state of the function."""

    __slots__ = ("captured", "is_compared", "is_steady", "program")

    def __init__(self, program: StepProgram, captured: Captured, is_steady: bool) -> None:
        self.program = program
        self.captured = captured
        self.is_steady = is_steady
        """False if the call has changed it."""
        self.is_compared = False
        """True if another call has recorded the same."""


class Step:
    """What `lazy.step` gives: a function whose calls are replayed, and a block that ends in a barrier."""

    def __init__(self, function: Callable[..., Any] | None, check: bool) -> None:
        if function is not None:
            functools.update_wrapper(self, function)
        self._function = function
        self._check = check
        self._known: OrderedDict[Any, _Known | tuple[int, ...]] = OrderedDict()
        """By kinds of arguments, and by the numbers whose values were looked at: which ones they are has an entry, too."""
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the step, or decorates a function where it has none yet."""
        function = self._function
        if function is None:
            return Step(args[0], self._check)
        if thread.recording is not None or is_differentiating():
            return function(*args, **kwargs)
        call = Call(args, kwargs)
        if not call.is_replayable:
            return function(*args, **kwargs)
        known = self._find(call)
        if known is None or self._check or not known.is_compared:
            known = self._recorded(function, call, known)
        if known is None or shares_memory(call.memory, known.captured.arrays):
            return function(*args, **kwargs)
        return known.program.run(call, function)

    def __get__(self, instance: Any, cls: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _key(self, call: Call, demanded: tuple[int, ...] = ()) -> Any:
        settings = (product_type(), default_device(), floats_raise())
        return (*call.key, *settings), tuple([repr(call.owners[n]) for n in demanded])

    def _find(self, call: Call) -> _Known | None:
        """The program for a call, unless the captured state of the function has changed."""
        key = self._key(call)
        with self._lock:
            entry = self._known.get(key)
            if entry is not None:
                self._known.move_to_end(key)
            if isinstance(entry, tuple):
                key = self._key(call, entry)
                entry = self._known.get(key)
                if entry is not None:
                    self._known.move_to_end(key)
        if not isinstance(entry, _Known) or entry.captured.has_changed():
            return None
        return entry

    def _keep(self, call: Call, known: _Known) -> None:
        with self._lock:
            key = self._key(call)
            before = self._known.get(key)
            demanded = known.program.demanded
            if isinstance(before, tuple):
                demanded = tuple(sorted({*before, *demanded}))
            if demanded:
                self._known[key] = demanded
                key = self._key(call, demanded)
            self._known[key] = known
            while len(self._known) > PROGRAMS:
                self._known.popitem(last=False)

    def _recorded(self, function: Callable[..., Any], call: Call, before: _Known | None) -> _Known | None:
        """Records a call; None where the function must run as it is written. StepError if it is not as `before`."""
        captured = Captured(function, *call.others)
        program = self._record(function, call, captured.generators)
        if program is None:
            return None
        is_steady = not captured.has_changed()
        known = _Known(program, captured if is_steady else Captured(function, *call.others), is_steady)
        if before is not None and (self._check or (before.is_steady and is_steady)):
            if not program.repeats(before.program):
                raise StepError(f"the step `{program.name}` does not do what it did the first time")
            known.program = before.program
            known.is_compared = is_steady
        self._keep(call, known)
        return known

    def _record(self, function: Callable[..., Any], call: Call, generators: list[Any]) -> StepProgram | None:
        """Records a call; None where the function must run as it is written. StepError if it draws or keeps a tensor."""
        name = getattr(function, "__name__", "step")
        for _ in range(1 if threading.active_count() == 1 else _TRIES):
            before = draws_of(generators)
            recording = Recording(name, call.device)
            program = _record(recording, function, call)
            if recording.tensors():
                gc.collect()
            if program is not None and recording.tensors():
                what = "keeps a lazy tensor that it does not return"
                raise StepError(f"the step `{name}` {what}, so that it cannot be replayed")
            if draws_of(generators) == before:
                return program
        raise StepError(f"the step `{name}` draws random numbers, so that it cannot be replayed")

    def __enter__(self) -> Step:
        thread.blocks += 1
        thread.is_eager = False
        return self

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        thread.blocks -= 1
        thread.is_eager = not thread.blocks and thread.recording is None
        if cls is None:
            sync()


def _record(recording: Recording, function: Callable[..., Any], call: Call) -> StepProgram | None:
    """Records a call; None if its function must run as it is written. Raises what it raises, after what it stored."""
    counts.note_recording(recording.name)
    failure: Exception | None = None
    result = None
    with recorded(recording):
        bases, leaves = call.stands()
        left = iter(leaves)
        given = rebuilt((call.args, call.kwargs), lambda _: next(left), {})
        structure = Structure(given)
        containers = structure.containers
        before = _layout(given, bases)
        objects = [(i, containers[i], instance_fields(containers[i])) for i in structure.objects]
        try:
            result = function(*given[0], **given[1])
        except Abandoned:
            return None
        except Exception as error:
            failure = error
        if recording.refusal is not None:
            raise recording.refusal
        if recording.is_abandoned:
            return None
        assigned = _taken_back(recording, objects)
        if _layout(given, bases) != before:
            if failure is not None:
                return None
            recording.refuse("changes a container among its arguments, or the shape of one")
        program = StepProgram(recording, call, bases, given, result, assigned)
    if failure is None:
        return program
    if recording.checks or (isinstance(failure, TypeError) and call.has_numbers()):
        return None  # it may be another exception, or none: what is written in C wants a number itself
    program.run(call, function)
    raise failure


def _taken_back(
    recording: Recording, objects: list[tuple[int, Any, dict[str, Any]]]
) -> list[tuple[int, str, Any]]:
    """What a step has assigned to attributes of its arguments: the number of the container, the name, and the value.

    The objects get back what they had, so that places are those of the arguments. StepError for an attribute that is gone.
    """
    assigned: list[tuple[int, str, Any]] = []
    for number, value, before in objects:
        now = instance_fields(value)
        if before.keys() - now.keys():
            recording.refuse("deletes an attribute of an argument")
        for name, new in now.items():
            if name not in before:
                delete_attribute(value, name)
            elif new is not before[name]:
                set_attribute(value, name, before[name])
            else:
                continue
            assigned.append((number, name, new))
    return assigned


def _layout(given: Any, bases: list[Any]) -> tuple[list[Any], list[tuple[int, Any]]]:
    """The properties of its arguments that a step may not change."""
    structure = Structure(given)
    return structure.key, [(id(each), getattr(each, "_kind", None)) for each in (*structure.leaves, *bases)]


def step(function: Callable[..., Any] | None = None, *, check: bool = False) -> Step:
    """Promises that a step repeats: `@lazy.step` above a function of lazy tensors, or `with lazy.step():` around a block.

    The first call of the function for arguments of some kinds is recorded, and so is the second, to compare. Later ones
    record nothing: the program runs on the new tensors, stores and results included; what else the function does is not
    done again. `check`: each call is recorded nevertheless, and compared. A block ends in a barrier, so that each is one
    program.

    Tensors, ndarrays and numbers are parameters, by themselves or in lists, tuples, dicts, JAX's registered classes, and
    dataclasses and other plain objects that hold tensors, whose attributes it may assign; a
    number that the function looks at, as in a branch or a shape, is part of the program. Raises StepError for a function
    that looks at the values of tensors, draws, uses other lazy tensors, keeps a tensor, or does something else than before.
    """
    return Step(function, check)
