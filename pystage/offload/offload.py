"""`Offload`: runs a function that cannot be staged as a whole as a residual program in Python that calls staged regions.

In: a plain function, `compile`, and the arguments of a call. Out: the result of the plain run. Whether a region stages is
found out when it is to be compiled: a refused region is cut finer, and the call goes on with its pieces.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

from ..compiler.diagnostics.codes_types import IdentityNotKnown
from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.errors import StagingError
from ..records import dataclass
from .blame import Reason, inner_diagnostics
from .cutting import Cutting
from .parts import TRIALS, Compile, TieredPart
from .source import Source, is_users, source_of
from .statement_runs import StatementRun, Variables

MAX_MADE = 8
"""How many functions of one definition are parts: it is made anew again and again."""
MAX_KINDS = 16
"""For how many kinds of arguments a function is cut; all others share one cut."""


@dataclass(frozen=True, slots=True)
class ResidualProgram:
    """The Python part of a function; `str` gives it for people to read."""

    text: str
    regions: tuple[str, ...]
    """A description of each region."""
    callees: tuple[ResidualProgram, ...]

    def __str__(self) -> str:
        return "\n\n".join([self.text, *self.regions, *map(str, self.callees)])


class StagedRegion:
    """A run of statements of a residual program: called with its live-in variables, it gives the live-out ones."""

    def __init__(self, owner: OffloadedFunction, cutting: Cutting, run: StatementRun, name: str) -> None:
        self.name = name
        self.run = run
        self._cutting = cutting
        function = cutting.variables.function_of(run, name)
        self._part = owner.shared.compiled(function, f"{owner.name}.{name}")
        self._refused: StagingError | None = None

    def __call__(self, *args: Any) -> Any:
        """Runs the statements."""
        if self._refused is not None:
            return self._cutting.program(self.run)(*args)
        part = self._part
        if part.stays:
            return part.plain(*args)
        try:
            return part(*args)
        except StagingError as error:
            if error.started:
                raise
            refused = error
        finally:
            if part.stays:  # since this call
                self._cutting.dissolve(self.run)
        if part.compiled.programs:
            return part.plain(*args)
        self._refused = refused
        self._cutting.refine(refused.diagnostics, self.run)
        return self._cutting.program(self.run)(*args)

    @property
    def is_cut(self) -> bool:
        """True if it is refused, and runs in pieces."""
        return self._refused is not None

    @property
    def remark(self) -> str:
        """The comment for readers at its call."""
        if self._refused is not None:
            return f", refused: {self._refused.args[0]}"
        if self._part.stays:
            return ", in Python: not worth a call"
        return "" if self._part.compiled.programs else ", not compiled yet"

    def __str__(self) -> str:
        run = self.run
        programs = self._part.compiled.signatures()
        what = "stays in Python" if self._part.stays else "staged" if programs else "not compiled yet"
        jumps = f"; may {', '.join(run.hows)}" if run.hows and not run.only_returns else ""
        gives = "what the function returns" if run.only_returns else ", ".join(run.outs) or "nothing"
        head = f"{self.name}({', '.join(run.ins)}) -> {gives}{jumps}: {run.lines}, {what}"
        return "\n".join([head, *[f"    {program}" for program in programs]])


class OffloadedFunction:
    """One function of a program: run whole where that can be staged, else as its residual program."""

    def __init__(self, fn: Callable[..., Any], shared: Shared) -> None:
        self.fn = fn
        self.name = str(getattr(fn, "__name__", ""))
        self.shared = shared
        self.idle = False
        """True if calls are left to Python."""
        self._source: Source | None = source_of(fn)
        self._part: TieredPart | None = None
        self._calls = 0
        self._programs = 0
        self._served: set[Any] = set()
        """The kinds of arguments that programs were made for."""
        self._cuttings: dict[Any, Cutting] = {}
        self._lock = threading.RLock()
        self._seeds: tuple[Diagnostic, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function."""
        if self.idle:
            return self.fn(*args, **kwargs)
        cutting = self._cuttings.get(self._kinds(args, kwargs)) if self._cuttings else None
        if cutting is None and self._seeds:
            cutting = self.cut(self._seeds, args, kwargs)
        if cutting is not None:
            self._calls += 1
            if self._calls % TRIALS == 0:
                self.idle = self.gains_nothing(set())
            return cutting.program()(*args, **kwargs)
        part = self._part
        if part is None:
            part = self._part = self.shared.compiled(self.fn, None)
        try:
            result = part(*args, **kwargs)
        except StagingError as error:
            if error.started:
                raise
            refused = error
        else:
            if part.compiled.programs > self._programs:
                self._programs = part.compiled.programs
                self._served.add(self._kinds(args, kwargs))
            self.idle = part.stays
            return result
        if self._kinds(args, kwargs) in self._served:
            return self.fn(*args, **kwargs)
        cutting = self.cut(refused.diagnostics, args, kwargs)
        return (cutting.program() if cutting is not None else self.fn)(*args, **kwargs)

    def cut(
        self, diagnostics: Sequence[Diagnostic], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Cutting | None:
        """The cut for calls with such arguments, after these diagnostics.

        None for what has no source or is nested too deep, and where it is asked whether two numbers are one object: regions
        make new ones.
        """
        if self._source is None or any(map(_tells_numbers_apart, diagnostics)):
            return None
        kinds = self._kinds(args, kwargs)
        with self._lock:
            found = self._cuttings.get(kinds)
            if found is None:
                if len(self._cuttings) >= MAX_KINDS:
                    return self._cuttings.setdefault(kinds, next(iter(self._cuttings.values())))
                try:
                    found = Cutting(Variables(self._source), self._region, self.shared)
                except RecursionError:
                    return None
                found.refine(diagnostics)
                self._cuttings[kinds] = found
            return found

    def _region(self, cutting: Cutting, run: StatementRun, name: str) -> StagedRegion:
        return StagedRegion(self, cutting, run, name)

    def _kinds(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        kinds = tuple([_kind_of(a) for a in args])
        return (kinds, *[(n, _kind_of(a)) for n, a in kwargs.items()]) if kwargs else kinds

    def gains_nothing(self, seen: set[int]) -> bool:
        """True if nothing is left to compile, neither in it nor in its callees; `seen` were asked already."""
        if self.idle or id(self) in seen:
            return True
        seen.add(id(self))
        cuttings = list(self._cuttings.values())
        return bool(cuttings) and not any(
            cutting.has_regions or not all(part.gains_nothing(seen) for part in cutting.callees_found)
            for cutting in cuttings
        )

    def seed(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Initialises the cut of a function that is known to be refused, before it is tried."""
        self._seeds = tuple(diagnostics)

    def seed_from(self, caller: Cutting) -> None:
        """Takes over what the cut of a caller knows of this function, before it is tried."""
        if not self._cuttings and not self._seeds:
            self.seed([d for reason in list(caller.stays.values()) for d in self._diagnostics_of(reason)])

    def _diagnostics_of(self, reason: Reason) -> tuple[Diagnostic, ...]:
        source = self._source
        return () if source is None else inner_diagnostics(reason, *source.lines, source.file)

    def residual(self, args: Sequence[Any], kwargs: dict[str, Any]) -> ResidualProgram:
        """The residual program for such arguments, as it is known now."""
        cutting = self._cuttings.get(self._kinds(args, kwargs))
        if cutting is None:
            try:
                self.shared.compiled(self.fn, None).compiled.lower(*args, **kwargs)
            except StagingError as error:
                cutting = self.cut(error.diagnostics, args, kwargs)
            if cutting is None:
                return ResidualProgram(
                    f"# {getattr(self.fn, '__qualname__', self.fn)} is staged as a whole", (), ()
                )
        return self.described(cutting, set())

    def described(self, cutting: Cutting, seen: set[int]) -> ResidualProgram:
        """A cut, and those of the functions that it calls."""
        seen.add(id(self))
        text, regions = cutting.text()
        callees = [
            part.described(each, seen)
            for part in self.shared.parts
            if id(part) not in seen and part.is_called_by(cutting)
            for each in list(part._cuttings.values())[:1]
        ]
        return ResidualProgram(text, tuple(map(str, regions)), tuple(callees))

    def is_called_by(self, cutting: Cutting) -> bool:
        """True if a statement that stays calls the function."""
        return any(self._diagnostics_of(reason) for reason in cutting.stays.values())


class Shared:
    """The offloaded functions of one program, each once."""

    def __init__(self, compile: Compile) -> None:
        self._compile = compile
        self._parts: weakref.WeakKeyDictionary[FunctionType, OffloadedFunction] = weakref.WeakKeyDictionary()
        self._seen: dict[int, int] = {}

    @property
    def parts(self) -> list[OffloadedFunction]:
        """The functions that were called."""
        return list(self._parts.values())

    def compiled(self, fn: Callable[..., Any], name: str | None) -> TieredPart:
        """A function, by itself or as a region of another one, that runs in tiers."""
        return TieredPart(fn, name, self._compile)

    def add(self, fn: Callable[..., Any]) -> OffloadedFunction:
        """The function that the user asked for."""
        part = OffloadedFunction(fn, self)
        if isinstance(fn, FunctionType):
            self._parts[fn] = part
        return part

    def part(self, fn: FunctionType) -> OffloadedFunction | None:
        """The offloaded function; None for one that is made anew again and again."""
        found = self._parts.get(fn)
        if found is None:
            made = self._seen.get(id(fn.__code__), 0)
            if made >= MAX_MADE:
                return None
            self._seen[id(fn.__code__)] = made + 1
            found = self._parts.setdefault(fn, OffloadedFunction(fn, self))
        return found

    def offloaded(self, cutting: Cutting) -> Callable[[Any], Any]:
        """The callable by which a residual program calls a function."""

        known: dict[FunctionType, OffloadedFunction] = {}

        def offloaded(fn: Any) -> Any:
            if type(fn) is BuiltinFunctionType:
                return fn
            if type(fn) is FunctionType and (found := known.get(fn)) is not None:
                return fn if found.idle else found
            method = fn if type(fn) is MethodType else None
            function = method.__func__ if method is not None else fn
            if not is_users(function):
                return fn
            part = self.part(cast(FunctionType, function))
            if part is None:
                return fn
            cutting.callees_found.add(part)
            if fn is function and function.__closure__ is None:
                known[function] = part
            if part.idle:
                return fn
            part.seed_from(cutting)
            return part if method is None else MethodType(part, method.__self__)

        return offloaded


class Offload:
    """A plain function whose parts are staged, each where that is possible and worth a call.

    Calling it gives what the plain function gives. `compile` compiles each part. `refused`: why the function is not staged
    as a whole, where that is known already; else it is tried.
    """

    def __init__(
        self, fn: Callable[..., Any], compile: Compile, refused: Sequence[Diagnostic] | None = None
    ) -> None:
        self.__wrapped__ = fn
        self._shared = Shared(compile)
        self._function = self._shared.add(fn)
        if refused:
            self._function.seed(refused)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function."""
        return self._function(*args, **kwargs)

    def residual(self, *args: Any, **kwargs: Any) -> ResidualProgram:
        """The Python part of the function for such arguments: the program, its regions, why each line stays."""
        return self._function.residual(args, kwargs)


def _tells_numbers_apart(diagnostic: Diagnostic) -> bool:
    return isinstance(diagnostic, IdentityNotKnown) and diagnostic.immutable


def _kind_of(value: Any) -> Any:
    """The property of one argument that a cut depends on."""
    dtype = getattr(value, "dtype", None)
    return type(value) if dtype is None else (type(value), dtype, getattr(value, "ndim", None))
