"""The stages of a compilation, in order; every program between them is kept and can be printed.

    arguments ──infer──▶ typed program ──simplify──in place──▶ program ──emit (where JAX lowers it)──▶ StableHLO

In: a plain function and the `Spec`s of its arguments. Out: a `Staged` program. Emission stands in
`emit/stablehlo.py` and happens when JAX lowers the program.
"""

from __future__ import annotations

import functools
import itertools
import reprlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, Protocol

from ..records import dataclass
from . import bridges  # noqa: F401  (fills the tables that the compiler asks)
from .ad.resolve_varying import resolve_varying
from .analysis.varying import ALIKE, Divergent
from .diagnostics.codes_constant import ProgramTooLarge
from .diagnostics.codes_runtime import OutOfMemory, ValueNotGiven
from .diagnostics.codes_syntax import TooDeep
from .diagnostics.errors import StagingError
from .diagnostics.span import Span
from .hash_order import HashOrder, noting
from .hlo.ir import Function, Op, Region
from .hlo.rewrite import Copier
from .hlo.types import TooLarge
from .hlo.walk import functions
from .ops import Constant, constant
from .ops.collectives.base import Collective, Varying
from .ops.foreign.named_axes import NamedAxes, NamedAxis
from .passes.branch_folding import fold_branches
from .passes.cost_model import check_size
from .passes.equal_loops import share_loops
from .passes.inplace import in_place
from .passes.simplify import Simplified, simplify, simplify_again
from .policy import is_library_file
from .recursion import deep_recursion
from .values.boundary import (
    CallableMember,
    Demand,
    Form,
    Global,
    Guard,
    GuardKind,
    HiddenInput,
    OutputTemplate,
    Path,
    PathKey,
    Program,
    Spec,
    leaf_forms,
)
from .values.capacity import AllocationSite
from .values.demand import LoopDecisions, NeedsConstant, Statics, no_value
from .values.type_text import short_array, type_of_template
from .values.walk import nodes


class Infer(Protocol):
    """The stage from source and arguments to a typed program; raises `StagingError` or `NeedsConstant`."""

    def __call__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Spec],
        kwargs: Mapping[str, Spec],
        /,
        *,
        name: str,
        static: Mapping[int, Any],
    ) -> Program:
        """The program of `fn` for these arguments; `static` are leaves whose value is known (`Statics`)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is to be compiled: a function, the specs of its arguments, and how to know more of them.

    `value_of` gives the value of a dynamic leaf, or None where only its type is known; `path_of` says in
    words where it stands, and `given` what was given instead of a value. `demands` and `fixed` say what is
    known to be wanted as constants, of the leaves and of the environment, and `changing` which of its
    integers are known to change. `capacities` are those that runs turned out to need. `skips_writes`: a call that
    has printed may be executed again. `traced`: JAX traces the call, so that no other program can be executed in its place.
    `loops`: how the loops of the function's other programs were inferred, and of this one from then on. In `read` inference
    notes what it has read of the environment. `expected` is as `value_of`, for capacities: no demand, and no condition.
    """

    fn: Callable[..., Any]
    name: str
    span: Span | None
    args: tuple[Spec, ...]
    kwargs: Mapping[str, Spec]
    value_of: Callable[[int], Any]
    path_of: Callable[[int], str]
    given: str = "only its type is given"
    demands: Mapping[int, Demand] = field(default_factory=dict)
    fixed: Mapping[PathKey, Demand] = field(default_factory=dict)
    changing: Mapping[PathKey, Path] = field(default_factory=dict)
    capacities: Mapping[AllocationSite, int] = field(default_factory=dict)
    skips_writes: bool = False
    traced: bool = False
    loops: LoopDecisions = field(default_factory=LoopDecisions)
    read: list[Guard | HiddenInput] = field(default_factory=list)
    expected: Callable[[int], Any] = no_value


_WRITTEN_OUT = 8
"""So many equal types in a row are each written."""


@dataclass(frozen=True, slots=True)
class VaryingTypes:
    """Over which named axes the parameters and the results of a program vary."""

    params: tuple[Varying, ...]
    results: tuple[Varying, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """A program that is ready to be emitted, and what it was made from.

    `program` is as inferred; `function` is the simplified one, and takes those parameters of the program's
    function whose indices are in `kept`. `weak` are the results of JAX's weak type. `static` are the leaves
    on whose value the program was specialised, `fixed` the values of the environment; `demands` says why of both.
    `prints`: the program calls the host while it runs. `varying`: over which named axes of devices what it takes and gives
    varies, where JAX tracks that (`with_varying`). `hash_order`: what the order of sets depends on that it was made by.
    `forms` are those of its first parameters.
    """

    name: str
    span: Span | None
    program: Program
    function: Function
    kept: tuple[int, ...]
    weak: frozenset[int]
    static: Mapping[int, Any]
    demands: tuple[Demand, ...]
    prints: bool = False
    varying: VaryingTypes | None = None
    hash_order: HashOrder = HashOrder.FIXED
    forms: tuple[Form, ...] = ()

    @property
    def fixed(self) -> dict[PathKey, Demand]:
        """The values of the environment that had to be constants."""
        return {d.place.key: d for d in self.demands if isinstance(d.place, Path)}

    @property
    def takes_and_gives(self) -> str:
        """What the program takes and what the user gets of it, in NumPy's words: `name(float64[3], int) -> float`."""
        if self.raised is not None:
            return f"{self.takes} raises {self.raised.__name__}"
        return f"{self.takes} -> {type_of_template(self.program.result, self.program.function.result_types)}"

    @property
    def takes(self) -> str:
        """The types that the program takes: `name(float64[3], int)`; of many that are the same, `100 × float`."""
        types = self.program.function.param_types
        forms = (*self.forms, *[Form.NDARRAY] * (len(types) - len(self.forms)))
        taken = [short_array(t, form) for t, form in zip(types, forms, strict=True)]
        runs = [list(run) for _, run in itertools.groupby(taken)]
        texts = [[f"{len(run)} × {run[0]}"] if len(run) > _WRITTEN_OUT else run for run in runs]
        return f"{self.name}({', '.join(itertools.chain(*texts))})"

    @property
    def raised(self) -> type[BaseException] | None:
        """The class of what a call raises whatever the values are, if it does."""
        failure = self.program.failure
        return (
            failure.find(failure.code).cls if failure is not None and isinstance(failure.code, int) else None
        )

    def __str__(self) -> str:
        text = self.takes_and_gives
        if axes := axes_of(self):
            text += f" among {', '.join(map(str, axes))}"
        if self.program.capacities:
            text += " with " + _listed([f"capacity {c.size} ({c.site})" for c in self.program.capacities])
        if self.demands:
            text += " for " + _listed(
                [f"{d.where} = {reprlib.repr(d.value)} ({_why(d)})" for d in self.demands]
            )
        fixed = self.fixed
        given = [
            f"{g.path} = {_short(g.expected)}"
            for g in self.program.guards
            if g.kind is GuardKind.EQUAL and g.path.key not in fixed and not _is_of_library(g.path)
        ]
        return text + (f" given {_listed(given)}" if given else "")


@functools.lru_cache(maxsize=512)
def axes_of(staged: Staged) -> tuple[NamedAxis, ...]:
    """The named axes of a program's collectives."""
    found = [op.kind for f in functions(staged.function) for op in f.body.walk()]
    return tuple(dict.fromkeys(a for kind in found if isinstance(kind, Collective) for a in kind.axes))


def _why(demand: Demand) -> str:
    where = f", {demand.span.at}" if demand.span is not None else ""
    return f"{demand.reason}{where}"


_SHOWN = 4
"""The greatest number of constants, or of capacities, that a signature has in full."""


def _listed(texts: Sequence[str]) -> str:
    """The first of some texts, and how many more there are."""
    more = len(texts) - _SHOWN
    return ", ".join(texts) if more < 2 else f"{', '.join(texts[:_SHOWN])} and {more:,} more"


def _is_of_library(path: Path) -> bool:
    """True for a constant of a library: a default of one of its functions, or a variable of one of its modules."""
    match path.root:
        case Global(namespace=namespace):
            file = namespace.get("__file__")
        case CallableMember(value=value):
            module = getattr(value, "__module__", None) or type(value).__module__
            file = getattr(sys.modules.get(module), "__file__", None)
        case _:
            return False
    return file is not None and is_library_file(file)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]} …"


def build(infer: Infer, request: Request, static: Mapping[int, Any]) -> Staged:
    """Runs the stages before emission; `static` are leaves known to be wanted as constants, with their values.

    Raises `StagingError`, also where XLA would take too long for the program, or cannot hold an array of it.
    """
    request.read.clear()
    with deep_recursion(), noting() as noted:
        try:
            made = _built(infer, request, static)
            forms = leaf_forms((*request.args, *request.kwargs.values()))
            return replace(
                made, hash_order=noted.order, forms=tuple([forms[leaf] for leaf in made.program.leaves])
            )
        except TooLarge as error:
            raise StagingError((OutOfMemory(span=request.span, what=str(error)),)) from None
        except RecursionError:
            raise StagingError((TooDeep(span=request.span, function=request.name),)) from None


def _built(infer: Infer, request: Request, static: Mapping[int, Any]) -> Staged:
    """What is refused where loops are inferred as in other programs of the function is tried again without them."""
    if request.loops:
        try:
            return finished(request.name, request.span, *_infer(infer, request, dict(static)))
        except StagingError:
            request.loops.forget()
    return finished(request.name, request.span, *_infer(infer, request, dict(static)))


def finished(
    name: str,
    span: Span | None,
    program: Program,
    static: Mapping[int, Any] = MappingProxyType({}),
    demands: tuple[Demand, ...] = (),
) -> Staged:
    """Runs the stages after inference, all but emission. `StagingError` where XLA would take too long."""
    program, simplified = _fold_checks(program, simplify(share_loops(program.function)))
    simplified = in_place(simplified)
    check_size(simplified.function, program.multiplied)
    function = _with_result(simplified.function)
    weak = frozenset(o.index for o in outputs(program) if o.form is Form.JAX and o.weak)
    printed = program.printed is not None
    return Staged(name, span, program, function, simplified.kept, weak, static, demands, printed)


def _fold_checks(program: Program, simplified: Simplified) -> tuple[Program, Simplified]:
    """Fold the branches that ranges decide; a program whose checks all certainly pass cannot raise."""
    failure = program.failure
    if failure is None or isinstance(failure.code, int):
        return program, simplified
    simplified = simplify_again(simplified, fold_branches(simplified.function))
    body = simplified.function.body
    code = body.results[failure.code.index].owner
    if isinstance(code, Op) and isinstance(code.kind, Constant) and not code.kind.data.any():
        certain = [replace(m, unless=()) for m in program.mutations if m.only is None]
        program = replace(program, failure=None, mutations=tuple(certain))
        simplified = simplify_again(simplified, simplified.function, slice(failure.first))
    return program, simplified


def with_varying(staged: Staged, params: Sequence[Varying], axes: NamedAxes) -> Staged:
    """The program for inputs that vary over these of the named axes of devices; PS606 where it might wait forever.

    In it, cotangents are summed where they are of values that vary less. Where JAX does not track what varies, it is the
    program itself.
    """
    old = staged.program.function
    try:
        function, found = resolve_varying(old, params, axes)
    except Divergent as error:
        raise StagingError((error.diagnostic(staged.span),)) from None
    if not axes.checked:
        return staged
    results = found[: len(staged.function.result_types)]
    if function is not old:
        simplified = simplify(function)
        if len(results) < len(found):  # the checks of the program were folded
            simplified = simplify_again(simplified, fold_branches(simplified.function), slice(len(results)))
        simplified = in_place(simplified)
        staged = replace(staged, function=_with_result(simplified.function), kept=simplified.kept)
    results += [ALIKE] * (len(staged.function.result_types) - len(results))
    return replace(staged, varying=VaryingTypes(tuple([params[i] for i in staged.kept]), tuple(results)))


_Inferred = tuple[Program, dict[int, Any], tuple[Demand, ...]]


def _infer(infer: Infer, request: Request, static: dict[int, Any]) -> _Inferred:
    """Inference, again with each value that it asks for.

    What does not stage because values of the environment are inputs may stage with constants: first those that
    decide a branch or a trip count are constants, then all. Where that does not help, the first error counts.
    """
    demands = {i: replace(d, value=static[i]) for i, d in request.demands.items() if i in static}
    fixed = dict(request.fixed)
    refusal: StagingError | None = None
    decide = False
    loops = request.loops.of_loops()
    may_be_of_others = bool(loops)
    while True:
        statics = Statics(
            static,
            request.value_of,
            fixed,
            request.changing.keys(),
            decide,
            request.capacities,
            request.skips_writes,
            request.traced,
            loops,
            request.read,
            request.expected,
        )
        try:
            program = infer(request.fn, request.args, request.kwargs, name=request.name, static=statics)
        except NeedsConstant as first:
            for need in (first, *first.more):
                _answer(request, need, statics, static, demands, fixed)
            continue
        except StagingError as error:
            if may_be_of_others:
                raise
            refusal = refusal or error
            if not statics.inputs or any(isinstance(d, ProgramTooLarge) for d in error.diagnostics):
                raise refusal from None
            loops = LoopDecisions()
            if decide or not statics.may_decide:
                for key, (path, value) in statics.inputs.items():
                    fixed[key] = Demand(path, str(path), value, None, "the program does not stage otherwise")
            decide = True
            continue
        request.loops.note(loops)
        guarded = {g.path.key: g.expected for g in program.guards if g.kind is GuardKind.EQUAL}
        environment = [replace(d, value=guarded[key]) for key, d in fixed.items() if key in guarded]
        return program, static, (*demands.values(), *environment)


def _answer(
    request: Request,
    need: NeedsConstant,
    statics: Statics,
    static: dict[int, Any],
    demands: dict[int, Demand],
    fixed: dict[PathKey, Demand],
) -> None:
    """Notes the number that inference asks for among the constants. `StagingError` if it cannot be known."""
    place = need.place
    if isinstance(place, Path):
        value = statics.inputs[place.key][1]
        fixed[place.key] = Demand(place, str(place), value, need.span, need.reason)
        return
    where = request.path_of(place)
    value = None if place in static else request.value_of(place)
    if value is None:
        reason = need.reason.rstrip(",")
        problem = ValueNotGiven(span=need.span, path=where, reason=reason, given=request.given)
        raise StagingError((problem,)) from None
    static[place] = value
    demands[place] = Demand(place, where, value, need.span, need.reason)


def _with_result(function: Function) -> Function:
    """The function with a result where it has none but something must run: JAX leaves out what gives nothing."""
    old = function.body
    if old.results or not old.ops:
        return function
    copier, made = Copier(), Region(function.param_types)
    with copier.b.isolated(made):
        copier.fill(old, made)
        made.results = (constant(copier.b, False),)
    return function.rewritten(made)


def outputs(program: Program) -> Iterator[OutputTemplate]:
    """Every `OutputTemplate` of the program's templates."""
    for template in (program.result, *[m.value for m in program.mutations]):
        yield from [node for node in nodes(template) if isinstance(node, OutputTemplate)]
