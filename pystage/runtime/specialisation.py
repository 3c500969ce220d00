"""One specialisation: programs that hold under one set of guards, behind one `jax.jit`.

JAX's C++ cache tells shapes and dtypes apart. When it meets a new one it traces `_trace`, which stages the
program for these types and binds it as one primitive; the plan for the results rides along in the output's
tree. Programs for other types belong here as long as they read nothing else of the world than the first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax

from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.types import ArrayType
from ..compiler.pipeline import Infer, Request, Staged, build
from ..compiler.values.boundary import Form, Leaf, Spec, Structure
from ..compiler.values.demand import no_value
from .collector import waiting
from .draws import same_steps
from .inputs import TypeKey, is_key, key_data_type, trace_key, type_key
from .leaves import dtype_problem
from .primitive import bind
from .results import Plan, pending
from .room import with_room
from .world import Reader, Signature, guard_key


class Elsewhere(Exception):
    """Raised while tracing: the types at hand need a specialisation of their own."""


def retype(spec: Spec, types: Sequence[TypeKey]) -> Spec:
    """The same structure with leaves of these types."""
    if isinstance(spec, Structure):
        return replace(spec, children=tuple([retype(child, types) for child in spec.children]))
    if isinstance(spec, Leaf):
        shape, dtype, weak = types[spec.index]
        type = key_data_type(shape, dtype) if is_key(dtype) else ArrayType(dtype, shape)
        return replace(spec, type=type, weak=weak)
    return spec


@dataclass(frozen=True, slots=True)
class Context:
    """What the specialisations of one kind of call have in common.

    `forms` are those of the dynamic leaves, `x64` the user's `jax_enable_x64`. `traced`: JAX is tracing
    around the call, so its rules hold. `donated` are leaves whose buffers the program may reuse.
    """

    infer: Infer
    request: Request
    signature: Signature
    forms: tuple[Form, ...]
    x64: bool
    traced: bool
    donated: tuple[int, ...]
    on_staged: Callable[[Staged], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """A program for one combination of input types; `inputs` are those of the specialisation that it takes."""

    staged: Staged
    inputs: tuple[int, ...]
    plan: Plan


def stage(context: Context, request: Request, static: Mapping[int, Any], x64: bool) -> Staged:
    """Stages a program under the user's own settings, whatever JAX is tracing around us."""
    with waiting, jax.enable_x64(x64), jax.core.eval_context():
        return with_room(lambda: build(context.infer, request, static))


class Specialisation:
    """Programs under one set of guards, behind one `jax.jit`."""

    def __init__(
        self, context: Context, staged: Staged, reader: Reader, types: Sequence[TypeKey], pattern: list[int]
    ) -> None:
        program = staged.program
        self._context = context
        self.staged = staged
        """The first of the programs."""
        self.static = staged.static
        self.reader = reader
        self.read = reader.read
        self._refused: set[tuple[TypeKey, ...]] = set()
        self.hidden_paths = tuple([str(program.hidden[group[0]].path) for group in program.groups])
        self.pattern = pattern if program.alias_sensitive or len(set(pattern)) < len(pattern) else None
        """Which containers of the arguments must be the same objects, if that matters."""
        self.draws = reader.draws
        self.drawn = False
        """True once its program has run on draws."""
        drawn = self.draws.groups if self.draws is not None else ()
        forms = (*context.forms, *program.input_forms, *[Form.SCALAR for _ in drawn])
        self.host = any(f is not Form.JAX for f in forms)
        self.memory = Form.NDARRAY in forms
        self._forms = forms
        self._inputs = {key: i for i, key in enumerate(program.input_keys)}
        self._variants: dict[tuple[Any, ...], Variant] = {}
        self._locks: dict[tuple[Any, ...], threading.Lock] = {}
        if self.draws is not None:
            types = [*types, *[(t.static_shape, t.dtype, False) for t in self.draws.input_types]]
        first = self._variant(staged)
        self._variants[(tuple(types), self._flags())] = first
        self.single = first.plan.single if self.host else None
        """How results are made of the bare arrays that `run` gives. Programs that do it otherwise give `Pending`."""
        self._jitted: Any = None
        self._lock = threading.Lock()

    def refuse(self, hidden: Sequence[Any]) -> None:
        """From now on it does not serve hidden inputs of these types: their program reads other things of the world."""
        self._refused.add(self._hidden_types(hidden))
        self.read = self._read_others

    def _read_others(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        hidden = self.reader.read(args, kwargs)
        return None if hidden is None or self._hidden_types(hidden) in self._refused else hidden

    def _hidden_types(self, hidden: Sequence[Any]) -> tuple[TypeKey, ...]:
        forms = self._forms[len(self._context.forms) :]
        return tuple([type_key(x, f) for x, f in zip(hidden[: len(self._inputs)], forms)])

    @functools.cached_property
    def _guards(self) -> set[tuple[Any, ...]]:
        return {guard_key(g) for g in self.staged.program.guards}

    @property
    def run(self) -> Any:
        """The `jax.jit` of the programs, made when it is first asked for: `lower` does without it."""
        if self._jitted is None:
            with self._lock:
                if self._jitted is None:
                    self._jitted = jax.jit(self._named(), donate_argnums=self._context.donated)
        return self._jitted

    @property
    def types(self) -> list[tuple[TypeKey, ...]]:
        """The types of inputs that have a program."""
        return [types for types, _ in list(self._variants)]

    def _x64(self) -> bool:
        """The user's `jax_enable_x64`: runs that take anything but `jax.Array`s override it."""
        return self._context.x64 if self.host else bool(jax.config.jax_enable_x64)

    def _flags(self) -> tuple[Any, ...]:
        """What the user has set in JAX that changes the meaning of a program."""
        config = jax.config
        return self._x64(), config.jax_numpy_dtype_promotion, config.jax_numpy_rank_promotion

    def _named(self) -> Callable[..., Any]:
        """`_trace` under the user's name, which JAX gives to the compiled module."""

        def program(*inputs: Any) -> Any:
            return self._trace(inputs)

        program.__name__ = program.__qualname__ = self._context.request.name
        return program

    def _trace(self, inputs: Sequence[Any]) -> Any:
        types = tuple([trace_key(x, f) for x, f in zip(inputs, self._forms, strict=True)])
        key = (types, self._flags())
        variant = self._variant_for(key)
        plan = variant.plan
        values = apply(variant.staged, [inputs[i] for i in variant.inputs], plan)
        if plan.direct and not self.memory:
            return plan.arrange(values)
        if self.single is not None and plan.single == self.single:
            return values[0]
        return pending(plan, values)

    def _variant_for(self, key: tuple[Any, ...]) -> Variant:
        with self._locks.setdefault(key, threading.Lock()):
            variant = self._variants.get(key)
            if variant is None:
                variant = self._variants[key] = self._extend(key[0])
        return variant

    def plan_for(self, inputs: Sequence[Any]) -> Plan:
        """The plan of the program that draws for these leaves and hidden inputs, made if it is not there.

        `Elsewhere` where another specialisation serves them: before anything is drawn.
        """
        assert self.draws is not None
        drawn = [(t.static_shape, t.dtype, False) for t in self.draws.input_types]
        forms = self._forms[: len(inputs)]
        types = (*[type_key(x, f) for x, f in zip(inputs, forms, strict=True)], *drawn)
        return self._variant_for((types, self._flags())).plan

    def inline(self, inputs: Sequence[Any]) -> Any:
        """The result of a call under a JAX transformation; `Elsewhere` for types that are not known here.

        Results have the dtypes that JAX gives them: 64 bits only where the user enabled them.
        """
        types = tuple([type_key(x, f) for x, f in zip(inputs, self._forms, strict=True)])
        variant = self._variants.get((types, self._flags()))
        if variant is None:
            raise Elsewhere
        values = apply(variant.staged, [inputs[i] for i in variant.inputs], variant.plan)
        return variant.plan.finish([_canonical(v) for v in values], (), {}, memory=False)

    def _extend(self, types: tuple[TypeKey, ...]) -> Variant:
        """Stages the program for other types; `Elsewhere` if it does not belong here, or does not stage."""
        if any(not is_key(dtype) and dtype_problem(dtype) for _, dtype, _ in types):
            raise Elsewhere
        request = self._context.request
        request = replace(
            request,
            args=tuple([retype(s, types) for s in request.args]),
            kwargs={k: retype(s, types) for k, s in request.kwargs.items()},
            value_of=no_value,
        )
        try:
            staged = stage(self._context, request, self.static, self._x64())
        except StagingError as error:
            raise Elsewhere from error
        program = staged.program
        if (
            any(guard_key(g) not in self._guards for g in program.guards)
            or any(key not in self._inputs for key in program.input_keys)
            or (program.alias_sensitive and self.pattern is None)
            or staged.static.keys() != self.static.keys()
            or not same_steps(program.draws, self.staged.program.draws)
        ):
            raise Elsewhere
        self._context.on_staged(staged)
        return self._variant(staged)

    def _variant(self, staged: Staged) -> Variant:
        program = staged.program
        leaves = len(self._context.forms)
        hidden = [leaves + self._inputs[key] for key in program.input_keys]
        first = leaves + len(self._inputs)
        drawn = range(first, first + (len(program.draws.groups) if program.draws is not None else 0))
        return Variant(
            staged,
            (*program.leaves, *hidden, *drawn),
            Plan(program, self._context.signature, self._context.traced),
        )


def _canonical(value: Any) -> Any:
    """A value with the dtype that JAX's own operations would give it."""
    if is_key(value.dtype):
        return value
    dtype = jax.dtypes.canonicalize_dtype(value.dtype)
    return value if dtype == value.dtype else jax.lax.convert_element_type(value, dtype)


def apply(staged: Staged, inputs: Sequence[Any], plan: Plan) -> list[Any]:
    """Binds the program; typed PRNG keys go in and come out as such."""
    operands = [jax.random.key_data(x) if is_key(jax.typeof(x).dtype) else x for x in inputs]
    values = bind(staged, operands)
    for index, generator in plan.keys.items():
        values[index] = jax.random.wrap_key_data(values[index], impl=generator)
    return values
