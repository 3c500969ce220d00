"""One specialisation: the programs that hold under one set of guards, behind one `jax.jit`.

JAX's C++ cache distinguishes shapes and dtypes. For a new combination it traces `_trace`, which stages the program for
these types and binds it as one primitive; the plan for the results travels in the output's tree. Programs for other types
belong to the specialisation as long as they read the same parts of the environment as the first.
"""

from __future__ import annotations

import functools
import inspect
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jax

from ...autocasting import product_type
from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.types import ArrayType
from ...compiler.hlo.walk import kinds
from ...compiler.infer.state.effort import OutOfTime, ended_after
from ...compiler.ops import While
from ...compiler.ops.foreign.named_axes import CURRENT
from ...compiler.passes.boundary_vectors import Parameter, with_vectors
from ...compiler.pipeline import Infer, Request, Staged, build
from ...compiler.values.boundary import Form, LeafSpec, RowsSpec, Spec, StructureSpec, leaves_of
from ...compiler.values.demand import no_value
from ...config import config
from ...deferred import deferred
from ...records import dataclass
from ..arguments.classification import dtype_problem
from ..arguments.inputs import TypeKey, is_key, key_data_type, trace_key, type_key
from ..arguments.layouts import Layouts, Place
from ..arguments.packing import Pack, Packed, groups_of, operands_of, packed
from ..arguments.signature import Signature
from ..executables.background import Job, beside, can_interrupt, wait_for
from ..executables.compiler_options import Options, expected_seconds, options_for
from ..executables.garbage_collector import waiting
from ..executables.jax_private import forget, is_tracing
from ..executables.stack import with_stack_reserve
from ..guards.environment import Reader, guard_key
from ..outcomes import Elsewhere, Unprepared, pending
from ..random.draws import same_steps
from ..reports.ledger import ledger
from ..reports.messages import Compilation
from ..results.layouts import laid_out, places_of_results
from ..results.memory_reserve import keep
from ..results.packing import packing_of
from ..results.results import Plan
from ..tiers import NotReady, check_ready, check_worth, is_beside, patience, waits

_longest_run = deferred("pystage.compiler.analysis.running_time", "longest_run")
LONG_SECONDS = 0.1
"""A program that may take longer runs in a worker, if it loops: XLA may run it in the calling thread. One that was seen to
take this long is waited for so that the wait can be interrupted.
"""
_lowering = threading.local()
_with_kept_executables = deferred("pystage.runtime.cache.executables", "with_kept_executables")
_bind = deferred("pystage.runtime.executables.primitive", "bind_call")
"""It comes with all that emits and transforms programs."""


def retype(spec: Spec, types: Sequence[TypeKey]) -> Spec:
    """The same structure with leaves of these types."""
    if isinstance(spec, StructureSpec):
        return replace(spec, children=tuple([retype(child, types) for child in spec.children]))
    if isinstance(spec, LeafSpec):
        shape, dtype, weak = types[spec.index]
        type = key_data_type(shape, dtype) if is_key(dtype) else ArrayType(dtype, shape)
        return replace(spec, type=type, weak=weak)
    if isinstance(spec, RowsSpec):
        return replace(spec, element=retype(spec.element, types))
    return spec


@dataclass(frozen=True, slots=True)
class SpecialisationContext:
    """The common properties of the specialisations of one kind of call.

    `forms` are those of the dynamic leaves, `x64` the user's `jax_enable_x64`. `traced`: JAX is tracing
    around the call, so its rules hold. `donated` are leaves whose buffers the program may reuse, `places` says where
    leaves lie, and `layouts` where results do.
    """

    infer: Infer
    request: Request
    signature: Signature
    forms: tuple[Form, ...]
    x64: bool
    traced: bool
    donated: tuple[int, ...]
    places: tuple[Place, ...]
    layouts: Layouts
    on_staged: Callable[[Staged, Request, float], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """A program for one combination of input types; `inputs` are those of the specialisation that it takes."""

    staged: Staged
    inputs: tuple[int, ...]
    plan: Plan

    def on(self, operands: Sequence[tuple[Any, int | range]]) -> tuple[Staged, list[Any]]:
        """The program on these operands, each one of the inputs or several of them as a vector.

        It gives its results as the plan takes them.
        """
        packing = self.plan.packing
        if packing is None and all(isinstance(places, int) for _, places in operands):
            values = {places: value for value, places in operands}
            return self.staged, [values[i] for i in self.inputs]
        params = {self.inputs[k]: param for param, k in enumerate(self.staged.kept)}
        taken: list[Any] = []
        parameters: list[Parameter] = []
        for value, places in operands:
            found = [params.get(i) for i in ([places] if isinstance(places, int) else places)]
            if any(param is not None for param in found):
                taken.append(value)
                parameters.append(found if isinstance(places, range) else params[places])
        if packing is None:
            made, weak = with_vectors(self.staged.function, parameters), self.staged.weak
        else:
            made = with_vectors(self.staged.function, parameters, packing.results)
            weak = packing.singles_of(self.staged.weak)
        return replace(self.staged, function=made.function, kept=made.kept, weak=weak), taken


def stage(context: SpecialisationContext, request: Request, static: Mapping[int, Any], x64: bool) -> Staged:
    """Stages a program under the user's own settings, whatever JAX is tracing around us."""
    keep()
    inference = Compilation(request.name, "inference")
    with inference, waiting, jax.enable_x64(x64), jax.core.eval_context():
        try:
            with ended_after(patience()):
                return inference.give(with_stack_reserve(lambda: build(context.infer, request, static)))
        except OutOfTime:
            raise NotReady from None


class Outermost:
    """A function under `jax.jit` with options for XLA, which JAX accepts at the top level only.

    Where JAX is tracing around the call, but nothing in it is traced, it runs at once.
    """

    def __init__(self, jitted: Any) -> None:
        self._jitted = jitted
        self.lower = jitted.lower
        """As of `jax.jit`."""

    def __call__(self, *inputs: Any) -> Any:
        if not is_tracing():
            return self._jitted(*inputs)
        with jax.core.eval_context():
            return self._jitted(*inputs)

    def clear_cache(self) -> None:
        """As of `jax.jit`, of its fast-path caches only."""
        forget(self._jitted)


class Specialisation:
    """Programs under one set of guards, behind one `jax.jit`."""

    def __init__(
        self,
        context: SpecialisationContext,
        staged: Staged,
        reader: Reader,
        types: Sequence[TypeKey],
        pattern: list[int],
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
            types = [*types, *[(t.shape, t.dtype, False) for t in self.draws.input_types]]
        first = self._variant(staged)
        self._variants[(tuple(types), self._flags())] = first
        self.single = first.plan.single if self.host else None
        """The construction of results from the bare arrays of `run`. Programs that differ in it give `Pending`."""
        self._jitted: Any = None
        self._lock = threading.Lock()
        self._retired = False
        self.compiling: dict[tuple[TypeKey, ...], Job] = {}
        """Compilations that go on in the background: they were interrupted, or calls run plainly until they end."""
        self._in_caller = False
        """True if JAX's settings in the calling thread have to be those of the compilation."""
        self._may_run_long = _may_run_long(staged)
        self.slow = True
        """True if it is not certain that its programs end soon: they are waited for by `settle`."""
        self._was_slow = False
        self._prepared = False
        self.used = 0
        """When a call has used it last, by a clock that counts; calls on the fast path do not say so."""

    @property
    def request(self) -> Request:
        """The request of its programs, without the types of their inputs."""
        return self._context.request

    def refuse(self, hidden: Sequence[Any]) -> None:
        """No longer serves hidden inputs of these types: their program reads other parts of the environment."""
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
    def jitted(self) -> Any:
        """The `jax.jit` of the programs (or an `Outermost`), built on first use: `lower` does without it."""
        if self._jitted is None:
            with self._lock:
                if self._jitted is None:
                    self._jitted = self._made()
        return self._jitted

    @functools.cached_property
    def run(self) -> Any:
        """The callable that runs the programs; `Unprepared` where none is compiled for these inputs."""
        return self._run_in_worker if self._may_run_long else self.jitted

    def _run_in_worker(self, *inputs: Any) -> Any:
        if not can_interrupt():
            return self.jitted(*inputs)
        job = Job(self.jitted, inputs)
        try:
            result = job.result()
        except BaseException:
            if not job.done:
                # JAX lets further calls wait for the first of its kind, which may never end.
                forget(self.jitted)
            raise
        return self.jitted(*inputs) if job.refused else result

    def start(self, inputs: Sequence[Any]) -> Any:
        """The same as `run`, after compiling the program if necessary."""
        if self.compiling:
            self._await_compilation(inputs)
        if self._prepared or jax.config.jax_disable_jit:
            try:
                return self.run(*inputs)
            except Unprepared:
                forget(self.jitted)
        self.check_worth()
        self.prepare(inputs)
        try:
            return self.run(*inputs)
        except Unprepared:  # another thread has given back meanwhile what was compiled
            forget(self.jitted)
            with _tracing():
                return self.jitted(*inputs)

    def check_worth(self) -> None:
        """Raises `NotReady` where its program is not compiled yet, and XLA is not to take what it needs for that now.

        What is kept for other processes is worth it, or has been compiled by one of them.
        """
        if not self._prepared:
            kept = config.cache_dir is not None
            check_worth(lambda: 0.0 if kept else expected_seconds(self._latest.function, self.run_options))

    @property
    def _latest(self) -> Staged:
        return list(self._variants.values())[-1].staged

    def lower(self, inputs: Sequence[Any]) -> Any:
        """The programs for such inputs, lowered by JAX."""
        with _tracing():
            return self.jitted.lower(*inputs)

    def packed(self, inputs: Sequence[Any]) -> list[Any]:
        """The operands of a program lowered by JAX, for such inputs."""
        return packed(inputs, self._groups)

    def prepare(self, inputs: Sequence[Any]) -> None:
        """Compiles the program for such inputs. After an interrupt XLA continues, and the next such call waits for it.

        Where the call is to run plainly now, it raises `NotReady` and leaves XLA at it. JAX keeps what it has compiled
        with what it has lowered, and finds both when the program is called.
        """
        with Compilation(self._context.request.name, "lowering"), waiting:
            lowered = self.lower(inputs)
        self._prepared = True
        latest = self._latest
        compile = lowered.compile if config.cache_dir is None else _with_kept_executables(lowered.compile)
        if is_beside() and not self._in_caller:
            job = beside(self._in_account, latest, compile)
            self.compiling[self._types(inputs)] = job
            raise NotReady(job)
        self._in_account(latest, self._compile, compile, inputs)

    def _in_account(self, staged: Staged, compile: Callable[..., Any], *args: Any) -> None:
        request, began = self._context.request, time.perf_counter()
        with Compilation(request.name, "XLA", staged):
            compile(*args)
        ledger.account(request.name, request.span).xla += time.perf_counter() - began

    def _compile(self, compile: Callable[[], Any], inputs: Sequence[Any]) -> None:
        if not can_interrupt():
            compile()
            return
        job = beside(compile)
        try:
            job.result()
        except BaseException:
            if not job.done:
                self.compiling[self._types(inputs)] = job
            raise
        if job.refused:
            compile()

    def _await_compilation(self, inputs: Sequence[Any]) -> None:
        types = self._types(inputs)
        job = self.compiling.get(types)
        if job is None:
            return
        if not (job.done or waits()):
            raise NotReady(job)
        try:
            job.result()
        finally:
            if job.done:
                self.compiling.pop(types, None)
        self._in_caller |= job.refused

    def _types(self, inputs: Sequence[Any]) -> tuple[TypeKey, ...]:
        return tuple([type_key(x, f) for x, f in zip(inputs, self._forms, strict=True)])

    def settle(self, value: Any) -> None:
        """Waits for one of the results, so that an interrupt ends the wait."""
        self._was_slow |= wait_for(value) > LONG_SECONDS
        self.slow = self._was_slow

    def _made(self) -> Any:
        # A call that may have to run again keeps its arguments.
        donated = () if self.staged.program.may_outgrow else self._context.donated
        options = dict(self.run_options)
        placed: dict[str, Any] = {}
        if any(self._context.places):
            others = len(self._forms) - len(self._context.places)
            placed["in_shardings"] = (*self._context.places, *[None] * others)
        made: Any = jax.jit(self._named(), donate_argnums=donated, compiler_options=options or None, **placed)
        if options:
            made = Outermost(made)
        return Packed(made, self._groups) if self._groups else made

    @functools.cached_property
    def _groups(self) -> list[Pack]:
        """The arguments that are passed as arrays; none where JAX is told of inputs by position."""
        context = self._context
        if context.donated or any(context.places):
            return []
        request = context.request
        leaves = leaves_of((*request.args, *request.kwargs.values()))
        numbers = {i for i, leaf in leaves.items() if leaf.form is Form.PYTHON and not leaf.type.rank}
        return groups_of([request.path_of(i) if i in numbers else "" for i in range(len(context.forms))])

    @functools.cached_property
    def run_options(self) -> Options:
        """The compiler options of the programs."""
        return options_for(self.staged.function)

    @property
    def types(self) -> list[tuple[TypeKey, ...]]:
        """The types of inputs that have a program."""
        return [types for types, _ in list(self._variants)]

    def retire(self) -> list[Staged]:
        """Releases compiled programs, except for calls in progress; gives its programs. It serves no new calls."""
        with self._lock:
            self._retired = True
            gone = [v.staged for v in self._variants.values()]
        if self._jitted is not None:
            self._jitted.clear_cache()
        return gone

    def drop(self) -> list[Staged]:
        """Releases all compiled programs; gives its programs. It serves no more calls."""
        return self._drop(0)

    def drop_older(self) -> list[Staged]:
        """Releases compiled programs but the latest, which is compiled again when it is needed."""
        return self._drop(1)

    def _drop(self, keep: int) -> list[Staged]:
        variants = dict(list(self._variants.items())[::-1][:keep])
        kept = [v.staged for v in variants.values()]
        gone = [v.staged for v in self._variants.values() if v.staged not in kept]
        self._variants, self._locks = variants, {}
        if self._jitted is not None:
            self._jitted.clear_cache()
        return gone

    def _x64(self) -> bool:
        """The user's `jax_enable_x64`: runs that take anything but `jax.Array`s override it."""
        return self._context.x64 if self.host else bool(jax.config.jax_enable_x64)

    def _flags(self) -> tuple[Any, ...]:
        return settings(self._x64())

    def _named(self) -> Callable[..., Any]:
        """`_trace` under the user's name, which JAX gives to the compiled module."""

        def program(*inputs: Any) -> Any:
            return self._trace(list(operands_of(inputs, self._groups)))

        program.__name__ = program.__qualname__ = self._context.request.name
        if not self._groups:
            self._name_inputs(program)
        return program

    def _name_inputs(self, program: Any) -> None:
        """Names the inputs for JAX's messages, as of two on different devices."""
        context = self._context
        paths = [*map(context.request.path_of, range(len(context.forms))), *self.hidden_paths]
        names = [re.sub(r"\W+", "_", path).strip("_") for path in paths]
        names += [f"drawn_{i}" for i in range(len(self._forms) - len(names))]
        if len(set(names)) == len(names) and all(map(str.isidentifier, names)):
            inputs = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
            program.__signature__ = inspect.Signature(inputs)

    def _trace(self, operands: Sequence[tuple[Any, int | range]]) -> Any:
        if not (getattr(_lowering, "active", False) or jax.config.jax_disable_jit):
            raise Unprepared
        types: dict[int, TypeKey] = {}
        for value, places in operands:
            if isinstance(places, int):
                types[places] = trace_key(value, self._forms[places])
            else:
                types.update(dict.fromkeys(places, ((), value.dtype, False)))
        key = (tuple([types[i] for i in range(len(types))]), self._flags())
        variant = self._variant_for(key)
        plan = variant.plan
        values = self._apply(variant, *variant.on(operands))
        if plan.direct and not self.memory:
            return plan.arrange(values)
        if self.single is not None and plan.single == self.single:
            return values[0]
        return pending(plan, values)

    def _apply(self, variant: Variant, staged: Staged, inputs: Sequence[Any]) -> list[Any]:
        """Binds a program of these inputs, and applies the user's layouts to its results."""
        values = apply(staged, inputs, variant.plan)
        return laid_out(values, places_of_results(variant.staged.program.result, self._context.layouts.outs))

    def _variant_for(self, key: tuple[Any, ...]) -> Variant:
        with self._locks.setdefault(key, threading.Lock()):
            variant = self._variants.get(key)
            if variant is None:
                variant = self._extend(key)
        self.slow = True
        return variant

    def plan_for(self, inputs: Sequence[Any]) -> Plan:
        """The plan of the program that draws for these leaves and hidden inputs, made if it is missing.

        `Elsewhere` where another specialisation serves them: before anything is drawn.
        """
        assert self.draws is not None
        drawn = [(t.shape, t.dtype, False) for t in self.draws.input_types]
        forms = self._forms[: len(inputs)]
        types = (*[type_key(x, f) for x, f in zip(inputs, forms, strict=True)], *drawn)
        if (types, self._flags()) not in self._variants:
            check_ready()
        plan = self._variant_for((types, self._flags())).plan
        if not jax.config.jax_disable_jit:
            self.check_worth()
        return plan

    def inline(self, inputs: Sequence[Any]) -> Any:
        """The result of a call under a JAX transformation; `Elsewhere` for types that are unknown here.

        Results have the dtypes that JAX gives them: 64 bits only where the user enabled them.
        """
        variant = self._variants.get((self._types(inputs), self._flags()))
        if variant is None:
            raise Elsewhere
        placed = laid_out(inputs, dict(enumerate(self._context.places)))
        values = self._apply(variant, variant.staged, [placed[i] for i in variant.inputs])
        return variant.plan.finish([_canonical(v) for v in values], (), {}, memory=False)

    def _extend(self, key: tuple[Any, ...]) -> Variant:
        """Stages the program for other types; `Elsewhere` if it does not belong here, or does not stage."""
        types: tuple[TypeKey, ...] = key[0]
        if any(not is_key(dtype) and dtype_problem(dtype) for _, dtype, _ in types):
            raise Elsewhere
        request = self._context.request
        request = replace(
            request,
            args=tuple([retype(s, types) for s in request.args]),
            kwargs={k: retype(s, types) for k, s in request.kwargs.items()},
            value_of=no_value,
        )
        began = time.perf_counter()
        try:
            staged = stage(self._context, request, self.static, self._x64())
        except StagingError as error:
            raise Elsewhere from error
        program = staged.program
        if (
            _may_run_long(staged) != self._may_run_long
            or any(guard_key(g) not in self._guards for g in program.guards)
            or any(key not in self._inputs for key in program.input_keys)
            or (program.alias_sensitive and self.pattern is None)
            or staged.static.keys() != self.static.keys()
            or (program.may_outgrow and not self.staged.program.may_outgrow and self._context.donated)
            or not same_steps(program.draws, self.staged.program.draws)
            or (self._jitted is not None and options_for(staged.function) != self.run_options)
        ):
            raise Elsewhere
        variant = self._variant(staged)
        with self._lock:
            self._variants[key] = variant
            if not self._retired:
                self._context.on_staged(staged, request, time.perf_counter() - began)
        return variant

    def _variant(self, staged: Staged) -> Variant:
        program, context = staged.program, self._context
        placed = context.traced or any(context.places) or context.layouts.outs is not None
        packs = not placed and jax.process_count() == 1
        leaves = len(context.forms)
        hidden = [leaves + self._inputs[key] for key in program.input_keys]
        first = leaves + len(self._inputs)
        drawn = range(first, first + (len(program.draws.groups) if program.draws is not None else 0))
        return Variant(
            staged,
            (*program.leaves, *hidden, *drawn),
            Plan(program, context.signature, context.traced, packing_of(staged) if packs else None),
        )


def settings(x64: bool) -> tuple[Any, ...]:
    """The user's JAX settings that change the meaning of a program."""
    config, mesh = jax.config, jax.sharding.get_abstract_mesh()
    promotion = config.jax_numpy_dtype_promotion, config.jax_numpy_rank_promotion
    return x64, *promotion, mesh, product_type(), CURRENT.axes


@contextmanager
def _tracing() -> Iterator[None]:
    """A `with` block in which JAX may trace programs."""
    before, _lowering.active = getattr(_lowering, "active", False), True
    try:
        yield
    finally:
        _lowering.active = before


def _may_run_long(staged: Staged) -> bool:
    """True if XLA may run the program in the calling thread, and it may take long: in loops."""
    return While in kinds(staged.function) and _longest_run(staged.function) > LONG_SECONDS


def _canonical(value: Any) -> Any:
    """A value in the dtype that JAX's own operations would give it."""
    if is_key(value.dtype):
        return value
    dtype = jax.dtypes.canonicalize_dtype(value.dtype)
    return value if dtype == value.dtype else jax.lax.convert_element_type(value, dtype)


def apply(staged: Staged, inputs: Sequence[Any], plan: Plan) -> list[Any]:
    """Binds the program; typed PRNG keys stay keys."""
    operands = [jax.random.key_data(x) if is_key(jax.typeof(x).dtype) else x for x in inputs]
    values: list[Any] = _bind(staged, operands)
    for index, generator in plan.keys.items():
        values[index] = jax.random.wrap_key_data(values[index], impl=generator)
    return values
