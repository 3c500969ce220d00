"""Ahead-of-time compilation: functions lowered for given arguments, then compiled, as in JAX's AOT API."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.interpreters import mlir
from jax.interpreters.mlir import ir

from ..autocasting import autocast, product_type
from ..compiler.emit.stablehlo import emit_module, stands_alone
from ..compiler.pipeline import Staged
from .arguments.abstract import abstract_form, stand_in
from .arguments.differences import difference
from .dispatch.dispatch import Described, Dispatcher
from .dispatch.entries import Entry
from .executables.background import interruptible
from .executables.compiler_options import Options
from .executables.garbage_collector import waiting
from .executables.jax_private import run_with_x64
from .executables.primitive import for_platform
from .outcomes import Outgrown, Pending, Raised
from .reports.hlo_text import InstructionCounts, instruction_counts
from .reports.messages import Compilation
from .results.exceptions import AsRaisedByTheProgram, capacity_outgrown

Canonical = Callable[[Sequence[Any], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]


class Lowered:
    """A function lowered to StableHLO for arguments of some types; constructed by `CompiledFunction.lower`."""

    def __init__(
        self, dispatcher: Dispatcher, canonical: Canonical, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self._dispatcher = dispatcher
        self._canonical = canonical
        self._products = product_type()
        self._module: ir.Module | None = None
        with waiting:
            self._lower(*canonical(args, kwargs))

    def _lower(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        dispatcher = self._dispatcher
        dispatcher.calling.check(args, kwargs)
        described = dispatcher.describe(args, kwargs, abstract_form)
        context = dispatcher.context(described, traced=False)
        self._described = described
        self._specialisation, self._hidden = dispatcher.specialise(context, described, args, kwargs, {})
        self._entry = Entry(context, (), tuple(described.description.paths))
        function = for_platform(self.staged.function, jax.default_backend(), alone=True)
        if stands_alone(function):
            self._module = emit_module(function, self.staged.name)
        else:
            self.bind()  # JAX emits its part, and says now what it has to say

    def __repr__(self) -> str:
        return f"<pystage.Lowered of {self.staged}>"

    @property
    def staged(self) -> Staged:
        """The program, as inferred and as simplified."""
        return self._specialisation.staged

    def bind(self) -> jax.stages.Lowered:
        """The program as a computation of JAX's, which compiles it; built on first use."""
        return self._bound

    @functools.cached_property
    def _bound(self) -> Any:
        inputs = [stand_in(leaf) for leaf in self._described.description.leaves]
        hidden = self._hidden[: len(self._specialisation.hidden_paths)]
        draws = self._specialisation.draws
        drawn = [] if draws is None else [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in draws.input_types]
        with autocast(self._products):
            return self._run(lambda *given: self._specialisation.lower(given), inputs, [*hidden, *drawn])

    def _run(self, run: Callable[..., Any], leaves: Sequence[Any], hidden: Sequence[Any]) -> Any:
        if self._specialisation.host and not self._entry.context.x64:
            return run_with_x64(run, (*leaves, *hidden))
        return run(*leaves, *hidden)

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """The module as text: `"stablehlo"`, or `"hlo"` before XLA's optimisation.

        `debug_info` shows the places in the source (StableHLO). ValueError for another dialect.
        """
        if dialect == "stablehlo" and self._module is not None:
            module: str = mlir.module_to_string(self._module, enable_debug_info=debug_info)
            return module
        text: str = self._bound.as_text(dialect, debug_info=debug_info)
        return text

    def instruction_counts(self) -> InstructionCounts:
        """Instructions before XLA's optimisation: of the entry computation, in total, and by opcode."""
        return instruction_counts(self.as_text("hlo"))

    def compile(self, compiler_options: Options | None = None) -> Compiled:
        """Compiles the module with XLA; `compiler_options` as in JAX, beside and before those that pystage chooses."""
        bound = self._bound
        options = dict(compiler_options or {}) or None
        compile = functools.partial(bound.compile, compiler_options=options)
        with Compilation(self.staged.name, "XLA", self.staged):
            return Compiled(self, self._run(lambda: interruptible(compile), (), ()))

    def call(self, compiled: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs the compiled program; TypeError if the arguments are not of the types that it was made for."""
        args, kwargs = self._canonical(args, kwargs)
        self._dispatcher.calling.check(args, kwargs)
        described = self._dispatcher.describe(args, kwargs)
        self._check(described)
        specialisation, leaves = self._specialisation, described.description.leaves
        hidden = specialisation.read(args, kwargs)
        if hidden is None:
            failing = specialisation.reader.failing(args, kwargs)
            place = failing[0].path if failing else None
            raise RuntimeError(
                f"`{place}` changed since `{self._dispatcher.name}` was lowered; lower it again"
            )
        performance, drawn = None, []
        if specialisation.draws is not None:
            count = len(specialisation.hidden_paths)
            performance = specialisation.draws.perform(leaves, hidden[count:], keep=False)
            hidden, drawn = hidden[:count], performance.results
        out = self._run(lambda *given: compiled(*specialisation.packed(given)), leaves, [*hidden, *drawn])
        if not isinstance(out, Pending):
            single = self._specialisation.single
            return out if single is None else single.convert(out)
        try:
            return self._dispatcher.finish(
                self._entry, specialisation, out, args, kwargs, leaves, hidden, performance
            )
        except Outgrown as found:
            started = found.writes is not None
            raise capacity_outgrown(found.end, "a program compiled ahead of time", started) from None

    def _check(self, described: Described) -> None:
        dispatcher = self._dispatcher
        wanted = self._described.args, self._described.kwargs
        given = described.args, described.kwargs
        static = self._specialisation.static
        problem = difference(dispatcher.calling, static, wanted, given, described.value_of)
        if problem is not None:
            raise TypeError(f"`{dispatcher.name}` was lowered for other arguments: {problem}")


class Compiled:
    """A compiled program; calling it runs it. Made by `Lowered.compile`."""

    def __init__(self, lowered: Lowered, compiled: Any) -> None:
        self._lowered = lowered
        self._compiled = compiled

    def __repr__(self) -> str:
        return f"<pystage.Compiled of {self._lowered.staged}>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the program. TypeError if the arguments are not of the types that it was made for."""
        try:
            return self._lowered.call(self._compiled, args, kwargs)
        except Raised as found:
            raised = found
        exception = raised.genuine()
        with AsRaisedByTheProgram(exception):
            raise exception

    def as_text(self) -> str:
        """The HLO module after XLA's optimisation."""
        text: str = self._compiled.as_text()
        return text

    def cost_analysis(self) -> Any:
        """XLA's estimate of the cost, by measure (`"flops"`, `"bytes accessed"`, …); what it holds is the backend's."""
        return self._compiled.cost_analysis()

    def memory_analysis(self) -> Any:
        """XLA's count of the memory that the program takes, in bytes; None where the backend does not say."""
        return self._compiled.memory_analysis()

    def instruction_counts(self) -> InstructionCounts:
        """Instructions after XLA's optimisation: of the entry computation, in total, and by opcode."""
        return instruction_counts(self.as_text())
