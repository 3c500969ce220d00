"""Recipes: the HLO function of a recorded call, inferred once for each function and kinds of operands.

The compiler infers the call of a library function, or of a plain function in `functions.py`, as if it were the whole body
of a user's function; so all that it knows of NumPy holds for recorded calls too: types, views, stores, errors. The result
is a `Recipe`: HLO IR for the results, and templates for the objects that hold them.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..autocasting import product_type
from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.builder import Builder
from ..compiler.hlo.ir import Function, Region
from ..compiler.hlo.types import INT64, ArrayType
from ..compiler.infer.entry import infer_program, keyword_path, positional_path
from ..compiler.pipeline import Request, build
from ..compiler.values.boundary import (
    Box,
    ConstantTemplate,
    ContainerTemplate,
    Cut,
    Failure,
    Form,
    LeafSpec,
    Mutation,
    OutputTemplate,
    Path,
    PathTemplate,
    Spec,
    StaticSpec,
    Subscript,
    Template,
    ViewTemplate,
    Write,
    leaf_forms,
)
from ..compiler.values.views import Index, Reshaped, View, Window, read_path, write_path
from ..records import dataclass
from ..runtime.executables.stack import with_stack_reserve
from .arena import arena_of
from .functions import method
from .interpreting_cost import interpreting_cost


class TensorKind:
    """The abstract properties of a tensor in a recipe's key. Interned, so that keys are compared by identity."""

    __slots__ = ("arena", "device", "form", "fortran", "ordered", "type", "writable")

    def __init__(
        self, type: ArrayType, form: Form, device: Any, writable: bool, ordered: bool, fortran: bool
    ) -> None:
        self.type = type
        self.form = form
        self.device = device
        self.arena = arena_of(device)
        self.writable = writable
        self.ordered = ordered
        """True if NumPy's array would lie in memory in row-major order, in one piece."""
        self.fortran = fortran
        """True if its own memory is in column-major order, and not in row-major order."""


_kinds: dict[tuple[ArrayType, Form, Any, bool, bool, bool], TensorKind] = {}


def kind_of(
    type: ArrayType,
    form: Form,
    device: Any,
    writable: bool = True,
    ordered: bool = True,
    fortran: bool = False,
) -> TensorKind:
    """The interned `TensorKind` of these properties."""
    key = (type, form, device, writable, ordered, fortran)
    return _kinds.get(key) or _kinds.setdefault(key, TensorKind(*key))


@dataclass(frozen=True, slots=True)
class CallSource:
    """The call that a recipe is of: a function, and what stands for its arguments. `static`: leaves that are constants."""

    function: Any
    args: tuple[Spec, ...]
    kwargs: Mapping[str, Spec]
    static: Mapping[int, Any]

    @property
    def forms(self) -> dict[int, Form]:
        """The forms of the leaves."""
        return leaf_forms([*self.args, *self.kwargs.values()])

    def argument_at(self, path: Path) -> Any:
        """The argument at a path, without the parts of it."""
        return _argument_at(self.function, len(self.args), path, self.args, self.kwargs)


def call_of(function: Any, *types: ArrayType) -> CallSource:
    """The call of a function with arrays and NumPy's scalars of these types."""
    forms = [Form.NDARRAY if type.rank else Form.SCALAR for type in types]
    specs = [LeafSpec(i, type, form) for i, (type, form) in enumerate(zip(types, forms, strict=True))]
    return CallSource(function, tuple(specs), {}, {})


@dataclass(frozen=True, slots=True)
class PathSource:
    """What stands at the end of a path from an array, or, where there is a `new` one, the store of that there."""

    base: ArrayType
    path: tuple[View, ...]
    new: ArrayType | None


@dataclass(frozen=True, slots=True)
class PullbackSource:
    """The cotangents of the operands at `places` of a call of a recipe, by those of its `given` results."""

    recipe: Recipe
    places: tuple[int, ...]
    given: tuple[int, ...]


PlaceOf = Callable[[Path, Sequence[Any], Mapping[str, Any]], Any]
"""What stands at the path of an argument of a call."""


class Recipe:
    """The program of a recorded call, and what becomes of its results.

    `takes`: the leaves of the call that the program takes. `only`: the kind of the one new tensor that a call gives that
    does nothing else; else None, and `result`, `mutations` and `failure` say what it does, as they do in a `Program`.
    `source`: what it is of, where that can be written as source.
    `viewed`: the leaf of which it gives a view, by `steps`, and does nothing else; None for other calls. `cost`: what it
    takes to interpret it.
    """

    __slots__ = (
        "argument_at",
        "cost",
        "device",
        "failure",
        "function",
        "mutations",
        "name",
        "only",
        "result",
        "source",
        "steps",
        "takes",
        "types",
        "viewed",
    )

    def __init__(
        self,
        name: str,
        function: Function,
        takes: tuple[int, ...],
        device: Any = None,
        only: TensorKind | None = None,
        result: Template | None = None,
        mutations: Sequence[Mutation] = (),
        failure: Failure | None = None,
        argument_at: PlaceOf | None = None,
        source: CallSource | PathSource | PullbackSource | None = None,
    ) -> None:
        self.name = name
        self.function = function
        self.types = function.result_types
        self.cost = interpreting_cost(function)
        self.takes = takes
        self.device = device
        self.only = only
        self.result = result
        self.mutations = mutations
        self.failure = failure
        self.argument_at = argument_at
        self.source = source
        self.viewed: int | None = None
        self.steps: tuple[View, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A call without a recipe, and the reason."""

    reason: str


def recipe_for(
    function: Any,
    args: tuple[Spec, ...],
    kwargs: Mapping[str, Spec],
    value_of: Callable[[int], Any],
    static: Mapping[int, Any],
    device: Any,
    ordered: bool,
) -> tuple[Recipe | Refused, tuple[int, ...]]:
    """The recipe of a call of `function`, and the leaves on whose values it depends.

    `value_of` gives the leaves that can be constants, None for others; `static` are those that must be. `ordered`: all
    arrays of the call lie in row-major order.
    """
    name = name_of(function)
    request = Request(
        function,
        name,
        None,
        args,
        kwargs,
        value_of=value_of,
        path_of="operand {}".format,
    )
    try:
        with jax.enable_x64(True), jax.core.eval_context():
            staged = with_stack_reserve(lambda: build(infer_program, request, static))
    except StagingError as error:
        demanded = tuple(sorted(static))
        return Refused(error.diagnostics[0].headline), demanded
    program = staged.program
    demanded = tuple(sorted(staged.static))
    if program.hidden or program.draws is not None or program.printed is not None:
        return Refused("it draws or reads what only the host has"), demanded
    if program.may_outgrow:
        return Refused("only a run knows the size of its result"), demanded
    views = _reshapes(function, args) and _order_of(function, args, kwargs) not in (None, "C")
    if not ordered and (
        views or program.in_order or _depends_on_order(program.result, bool(program.mutations))
    ):
        return Refused("it depends on the order of the elements in memory"), demanded
    takes = tuple([program.leaves[i] for i in staged.kept])
    only = _only(program.result, staged.function, device)
    if only is not None and len(only.type.shape) > 1:
        if _order_of(function, args, kwargs) in ("F", "f"):
            only = kind_of(only.type, only.form, device, only.writable, ordered=False, fortran=True)
        elif not ordered and keeps_order(function):
            only = kind_of(only.type, only.form, device, ordered=False)
    source = None if product_type() else CallSource(function, args, kwargs, dict(staged.static))
    if only is not None and not program.mutations and program.failure is None:
        return Recipe(name, staged.function, takes, device, only, source=source), demanded
    if any(m.kind is not Write.ARRAY for m in program.mutations) or not _is_recordable(program.result):
        return Refused("it changes or gives other things than arrays, numbers and tuples"), demanded
    made = Recipe(
        name,
        staged.function,
        takes,
        device,
        result=program.result,
        mutations=program.mutations,
        failure=program.failure,
        argument_at=functools.partial(_argument_at, function, len(args)),
        source=source,
    )
    template = program.result
    if isinstance(template, ViewTemplate) and not (made.mutations or made.failure):
        viewed = _viewed(function, template, args)
        if viewed is not None:
            made.viewed, made.steps = viewed
    return made, demanded


def _viewed(
    function: Any, template: ViewTemplate, args: Sequence[Spec]
) -> tuple[int, tuple[View, ...]] | None:
    """The leaf of the argument of which a call gives a view, and the path to it, if that is known."""
    steps = tuple([step for step in template.steps if not isinstance(step, Box | Cut | Subscript)])
    if not isinstance(template.base, PathTemplate) or len(steps) < len(template.steps):
        return None
    for position, spec in enumerate(args):
        if isinstance(spec, LeafSpec) and positional_path(function, position).key == template.base.path.key:
            return spec.index, steps
    return None


def _depends_on_order(template: Template, changes: bool) -> bool:
    """True where the order in memory decides whether NumPy gives a view or a copy, or the array itself or a copy."""
    if isinstance(template, ContainerTemplate):
        return any(_depends_on_order(child, changes) for child in template.children)
    if isinstance(template, ViewTemplate):
        return isinstance(template.base, PathTemplate) and any(
            isinstance(s, Reshaped) for s in template.steps
        )
    return isinstance(template, PathTemplate) and not changes


def _argument_at(
    function: Any, count: int, path: Path, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The argument at a path in a call of `function` with `count` positional arguments."""
    starts = [(positional_path(function, i), args[i]) for i in range(count)]
    starts += [(keyword_path(function, name), value) for name, value in kwargs.items()]
    for start, value in starts:
        if path.key[: len(start.key)] == start.key:
            for _, key in path.steps[len(start.steps) :]:
                value = value[key]
            return value
    raise AssertionError(f"no argument at {path}")


def _is_recordable(template: Template) -> bool:
    """True for a result that a recorded call can give."""
    if isinstance(template, ContainerTemplate):
        is_plain = template.cls is list or issubclass(template.cls, tuple)
        return is_plain and all(map(_is_recordable, template.children))
    if isinstance(template, ViewTemplate) and any(isinstance(step, Cut) for step in template.steps):
        return False  # its size is known only once it is computed
    return isinstance(template, OutputTemplate | ViewTemplate | ConstantTemplate | PathTemplate)


_ORDERLY = frozenset({np.matmul, np.vecdot, operator.matmul, operator.imatmul})
"""Of the ufuncs and operators, those whose results lie in row-major order."""
_LIKE = frozenset(
    {np.copy, np.sort, np.clip, np.round, np.around, np.real_if_close, np.nan_to_num, np.fix, np.conj}
)
_LIKE |= {
    np.empty_like,
    np.zeros_like,
    np.ones_like,
    np.full_like,
    np.where,
    np.isclose,
    np.i0,
    np.sinc,
    np.partition,
}


def _reshapes(function: Any, args: Sequence[Spec]) -> bool:
    """True for a call that gives a view where the elements are in the requested order, else a copy."""
    if function is method and isinstance(args[0], StaticSpec):
        return args[0].value in ("reshape", "ravel")
    return function in (np.reshape, np.ravel)


def _order_of(function: Any, args: Sequence[Spec], kwargs: Mapping[str, Spec]) -> Any:
    """The order in memory that a call asks for, by the parameter of this name; None where there is none."""
    if function is np.asfortranarray:
        return "F"
    if function is method and isinstance(args[0], StaticSpec):
        function, args = getattr(np.ndarray, args[0].value), args[1:]
    order = kwargs.get("order")
    if order is None:
        try:
            order = inspect.signature(function).bind_partial(*args).arguments.get("order")
        except (TypeError, ValueError):  # NumPy knows no signature
            return None
    return order.value if isinstance(order, StaticSpec) else None


def keeps_order(function: Any) -> bool:
    """True if NumPy's result may lie in memory as the arguments do."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "_operator":
        return function not in _ORDERLY
    return function in _LIKE or getattr(function, "__name__", "") == "method"


def name_of(function: Any) -> str:
    """The user's name of a function."""
    return str(getattr(function, "__name__", type(function).__name__))


def _only(template: Template, function: Function, device: Any) -> TensorKind | None:
    """The kind of a result that is one new ndarray or NumPy scalar."""
    if isinstance(template, ViewTemplate) and not template.steps:
        template = template.base
    if not isinstance(template, OutputTemplate) or len(function.result_types) > 1:
        return None
    if template.form not in (Form.NDARRAY, Form.SCALAR):
        return None
    return kind_of(function.result_types[0], template.form, device, template.writable)


# ---------------------------------------------------------------- paths of views

OPEN = -1
"""Stands for a start that is an operand of the program."""
_INDEX = ArrayType(INT64)


def _shifted(path: tuple[View, ...], starts: Sequence[Index]) -> tuple[View, ...]:
    """The path with other starts of its boxes."""
    left = iter(starts)
    return tuple(
        [Window(tuple([next(left) for _ in v.starts]), v.sizes) if type(v) is Window else v for v in path]
    )


_Way = tuple[ArrayType, tuple[View, ...], ArrayType | None]
_paths: dict[_Way, Recipe] = {}


def path_recipe(
    base: ArrayType, path: tuple[View, ...], new: ArrayType | None = None
) -> tuple[Recipe, list[int]]:
    """The recipe that reads the array at the end of a path, or stores an array of type `new` there.

    Starts of boxes other than 0 and 1 are operands of the program: those that are given back.
    """
    whole = (base, path, new)
    found = _reached.get(whole)
    if found is None:
        if len(_reached) >= _REACHED:
            _reached.clear()
        found = _reached[whole] = _reach(base, path, new)
    return found


_reached: dict[_Way, tuple[Recipe, list[int]]] = {}
"""What `path_recipe` has given, by where each path begins."""
_REACHED = 10_000


def _reach(base: ArrayType, path: tuple[View, ...], new: ArrayType | None) -> tuple[Recipe, list[int]]:
    starts = [start for view in path if type(view) is Window for start in view.starts]
    opened = [s if isinstance(s, int) and 0 <= s <= 1 else OPEN for s in starts]
    key = (base, _shifted(path, opened), new)
    recipe = _paths.get(key)
    if recipe is None:
        recipe = _paths[key] = _path_recipe(base, path, opened, new)
    return recipe, [s for s, o in zip(starts, opened) if o == OPEN]  # type: ignore[misc]


def _path_recipe(
    base: ArrayType, path: tuple[View, ...], opened: Sequence[int], new: ArrayType | None
) -> Recipe:
    arrays = (base,) if new is None else (base, new)
    body = Region((*arrays, *[_INDEX] * opened.count(OPEN)))
    b = Builder(body)
    left = iter(body.params[len(arrays) :])
    here = _shifted(path, [next(left) if o == OPEN else o for o in opened])
    if new is None:
        name, result = "view", read_path(b, body.params[0], here)
    else:
        name, result = "store", write_path(b, body.params[0], here, body.params[1])
    body.results = (result,)
    source = PathSource(base, _shifted(path, opened), new)
    return Recipe(name, Function(name, body), tuple(range(len(body.params))), source=source)
