"""The functions that a program calls: their summaries, their names, and the calls that are open."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, ClassVar

from ....records import dataclass
from ...diagnostics.codes_calls import WrongArguments
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...hlo.ir import Region
from ...speculation import Balanced, Declarations, Grows
from ...stage import ir as stage
from ...values.lattice import Abstract, Const
from ...values.slots import Slot
from ...values.state import State
from .frame import CalleeScope, PythonRaise
from .numpy_calls import OF_NUMPY, NoRepresentative, NumpyCall
from .raises import TryBody
from .summaries import SummaryEntry

_NOT_IN_NAMES = re.compile(r"\W")


@dataclass(slots=True)
class Callee:
    """A function to call: stage IR, its module, and what it closes over.

    `bound` are the values of its parameters; `cells` the heap cells of its free variables.
    """

    function: stage.Function
    namespace: dict[str, Any]
    module: str
    cells: dict[str, int]
    identity: object


class Callees:
    """The functions of one program.

    `summaries` are what calls of them did, by the canonical form of the call. `of_python` are real Python functions as
    callees, with their defaults, by id; `own` the ids of those that are the program's: a call of one runs its source,
    whatever it is given. `open` are the callees that are being inferred, outermost first. `traces`: for each function of
    JAX that inference is in, the number of cells when it was called; it traces what it is given. `given_up` are those whose
    recursion was taken to be endless. `open_calls` are the canonical forms of the open calls of each function. `numpy_call`:
    the outermost call of a function of NumPy whose meaning is being inferred, of those in which no code of the program runs.
    """

    __slots__ = (
        "_names",
        "given_up",
        "numpy_call",
        "of_python",
        "open",
        "open_calls",
        "own",
        "summaries",
        "traces",
    )

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "summaries": Grows("they say what they hold for"),
            "of_python": Grows("what a function of Python is in stage IR does not change"),
            "own": Grows("it is about functions, which are kept alive"),
            "given_up": Grows("at worst another recursion of the function is given up earlier"),
            "open": Balanced(),
            "open_calls": Balanced(),
            "traces": Balanced(),
            "numpy_call": Balanced(),
            "_names": Grows("the functions of summaries that stay have these names"),
        }
    )

    def __init__(self) -> None:
        self.summaries: defaultdict[object, SummaryEntry] = defaultdict(SummaryEntry)
        self.of_python: dict[int, tuple[Callee, dict[str, Abstract]]] = {}
        self.own: set[int] = set()
        self.given_up: set[stage.Function] = set()
        self.open: list[CalleeScope] = []
        self.open_calls: defaultdict[object, list[Any]] = defaultdict(list)
        self.traces: list[int] = []
        self.numpy_call: NumpyCall | None = None
        self._names: dict[str, int] = {}

    @property
    def depth(self) -> int:
        """How many callees are being inferred."""
        return len(self.open)

    @property
    def body(self) -> Region | None:
        """The body of the innermost open callee; None in the program itself."""
        return self.open[-1].body if self.open else None

    @property
    def first_cell(self) -> int:
        """The first cell allocated by the innermost open callee: nobody outside of it refers to this or later cells."""
        return self.open[-1].first_cell if self.open else 0

    @contextmanager
    def trace(self, cells: int) -> Iterator[None]:
        """A `with` block in a function of JAX, which is called where there are so many cells.

        With 0, all objects count as made in its trace, and in those that it makes, as where a library binds them to it.
        """
        self.traces.append(cells if not self.traces or self.traces[-1] else 0)
        try:
            yield
        finally:
            self.traces.pop()

    def numpys_own(self, exception: BaseException, state: State, span: Span | None) -> BaseException:
        """The exception of NumPy where a meaning raises `exception`, since the order of NumPy's checks decides which comes
        first.

        Where NumPy raises nothing the call is refused.
        """
        call = self.numpy_call
        if call is None or call.forks != state.depth or not isinstance(exception, OF_NUMPY):
            return exception
        try:
            own = call.exception(state.slots.get)
        except NoRepresentative:
            return exception
        if own is None:
            raise DiagnosticError(_not_raised(call, exception, span))
        return own

    def refuse_what_numpy_does(self, raised: PythonRaise, state: State, span: Span | None) -> None:
        """Refuses the outermost call of NumPy, which certainly raises, where NumPy raises nothing or another exception."""
        if isinstance(raised.exception, Const) and raised.depth == state.depth:
            exception = raised.exception.value
            own = self.numpys_own(exception, state, span)
            if (type(own), str(own)) != (type(exception), str(exception)):
                assert self.numpy_call is not None
                raise DiagnosticError(
                    _not_raised(self.numpy_call, exception, span, f"raises {type(own).__name__}: {own}")
                )

    def reaches(self, cell: int) -> bool:
        """False for a cell that the innermost open callee neither allocated nor is given."""
        return not self.open or cell > self.open[-1].first_cell or cell in self.open[-1].reached

    def enter(self, body: Region, try_depth: int, first_cell: int, reached: Set[int]) -> CalleeScope:
        """Enters the inference of the function with this body, inside of `try_depth` bodies of `try`; a `with` block."""
        return CalleeScope(body, self.open, try_depth, first_cell, reached)

    def note_observed(self, slot: Slot, outside: bool, bodies: Sequence[TryBody]) -> None:
        """Records for the open callees that they depend on whether their callers see `slot` after a raise.

        `outside`: whoever calls the program does; `bodies` are those of `try`, whose handlers may.
        """
        for scope in self.open:
            if slot not in scope.observed:
                seen = outside or any(slot in body.cells for body in bodies[: scope.try_depth])
                scope.observed[slot] = seen

    def crossed(self, bodies: Set[Region]) -> list[CalleeScope]:
        """The open callees with these bodies that are not known to depend on their callers."""
        return [scope for scope in self.open if scope.body in bodies and not scope.crossed] if bodies else []

    def fresh_name(self, name: str) -> str:
        """A name for a private function."""
        name = _NOT_IN_NAMES.sub("_", name).strip("_") or "lambda"
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}_{count}" if count else name


def _not_raised(
    call: NumpyCall, exception: BaseException, span: Span | None, instead: str = "does not"
) -> WrongArguments:
    why = f"staged code would raise {type(exception).__name__}, and the plain run {instead}"
    return WrongArguments(span=span, name=call.name, why=why)
