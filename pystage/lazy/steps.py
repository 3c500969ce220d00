"""`lazy.step`: records a repeated step once and then replays its program.

The user promises that a step does the same each time, on other arrays: the first call for arguments of some kinds is
recorded, later ones run the resulting program. A step may not read values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import jax
import numpy as np

from .arena import arena_of, arenas
from .array import LazyTensor
from .barrier import barrier, placed
from .control import sync
from .graph import Node, StepError, recording_step
from .liveness import donated_inputs
from .segment import Executable, Segment, program_of
from .tensor import Tensor, node_of, owner


class _Program:
    """What one call of a step has recorded: from the tensors that its arguments hold to its results and stores."""

    def __init__(self, name: str, given: Sequence[LazyTensor], function: Callable[[], Any]) -> None:
        before = [node_of(t) for t in given]
        others = [
            (t, t._node) for arena in arenas() for t in arena.tensors() if all(t is not g for g in given)
        ]
        with recording_step(name):
            result = function()
        leaves, self._tree = jax.tree_util.tree_flatten(result)
        self._results: list[tuple[Any, Any]] = []
        outputs: list[Node] = []
        places = {id(t): i for i, t in enumerate(given)}
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                self._results.append(("constant", leaf))
            elif id(leaf) in places:
                self._results.append(("given", places[id(leaf)]))
            elif leaf._owner is not None:
                raise StepError("a step that returns a view cannot be replayed; return a copy")
            else:
                self._results.append((_number(outputs, leaf._node), leaf._kind))
        self._stored = [
            (i, _number(outputs, t._node))
            for i, (t, node) in enumerate(zip(given, before, strict=True))
            if t._owner is None and t._node is not node
        ]
        segment = Segment([o for o in outputs if o.call is not None])
        outside = {id(node) for _, node in others}
        if any(t._node is not node for t, node in others) or any(id(n) in outside for n in segment.inputs):
            raise StepError(
                f"the step `{name}` uses a lazy tensor that is no argument, so that it cannot be replayed"
            )
        self.key = segment.key
        self._staged = program_of(segment)
        self._executables: dict[tuple[int, ...], Executable] = {}
        """By the inputs that they may overwrite."""
        self._fixed = {i: o for i, o in enumerate(outputs) if o.call is None}
        """Outputs that were there already: the same each time."""
        self._types = [(o.type, o.device) for o in outputs]
        inputs = {id(node): i for i, node in enumerate(before)}
        self._inputs = [inputs.get(id(node), node) for node in segment.inputs]
        self.first = result

    def takes_what(self, other: _Program) -> bool:
        """True if what it takes besides the arguments is what another took."""
        pairs = zip(self._inputs, other._inputs, strict=True)
        return all(
            a == b if isinstance(a, int) or isinstance(b, int) else np.array_equal(a.array, b.array)
            for a, b in pairs
        )

    def replay(self, given: Sequence[LazyTensor]) -> Any:
        """The same on other tensors."""
        nodes = [node_of(t) for t in given]
        inputs = [nodes[i] if isinstance(i, int) else i for i in self._inputs]
        outputs = [self._fixed.get(i) or Node(*each, None) for i, each in enumerate(self._types)]
        for i, number in self._stored:
            given[i]._node = outputs[number]
        del nodes  # nobody but the segment shall hold what is overwritten
        computed = [o for i, o in enumerate(outputs) if i not in self._fixed]
        donated = donated_inputs(inputs, computed)
        executable = self._executables.get(donated)
        if executable is None:
            executable = self._executables[donated] = Executable(self._staged, donated)
        for output, array in zip(computed, executable([placed(n) for n in inputs]), strict=True):
            output.settle(array)
        leaves = []
        for what, value in self._results:
            if what == "constant":
                leaves.append(value)
            else:
                leaves.append(given[value] if what == "given" else owner(outputs[what], value))
        return jax.tree_util.tree_unflatten(self._tree, leaves)


def _number(outputs: list[Node], node: Node) -> int:
    """The number of a node among the outputs, of which it becomes one."""
    for i, each in enumerate(outputs):
        if each is node:
            return i
    outputs.append(node)
    return len(outputs) - 1


class Step:
    """What `lazy.step` gives: a function whose calls are replayed, and a block that ends in a barrier."""

    def __init__(self, function: Callable[..., Any] | None, check: bool) -> None:
        if function is not None:
            functools.update_wrapper(self, function)
        self._function = function
        self._check = check
        self._programs: dict[Any, _Program] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the step, or decorates a function where it has none yet."""
        function = self._function
        if function is None:
            return Step(args[0], self._check)
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        given: list[LazyTensor] = []
        key: list[Any] = [tree]
        for leaf in leaves:
            if isinstance(leaf, LazyTensor):
                if all(leaf is not t for t in given):
                    given.append(leaf)
                key.append((leaf._kind, _number(given, leaf)))  # type: ignore[arg-type]
            else:
                key.append((type(leaf), leaf))
        if any(t._owner is not None or t._host is not None for t in given) or not given:
            return function(*args, **kwargs)
        arena = arena_of(given[0]._kind.device)
        with arena.lock:
            found = self._programs.get(tuple(key))
            is_replayed = found is not None and not self._check
            if not is_replayed or any(node_of(t).array is None for t in given):
                barrier(arena, "a step begins")
            if found is not None and is_replayed:
                return found.replay(given)
            name = getattr(function, "__name__", "step")
            made = _Program(name, given, lambda: function(*args, **kwargs))
            if found is None:
                self._programs[tuple(key)] = made
            elif made.key != found.key or not made.takes_what(found):
                raise StepError(f"the step `{name}` does not do what it did the first time")
            barrier(arena, "a step ends")
            return made.first

    def __enter__(self) -> Step:
        return self

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if cls is None:
            sync()


def step(function: Callable[..., Any] | None = None, *, check: bool = False) -> Step:
    """Promises that a step repeats: `@lazy.step` above a function of lazy tensors, or `with lazy.step():` around a block.

    The first call of the function for arguments of some kinds (and values, of what is no lazy tensor) is recorded. Later
    ones record nothing: its program runs on the new tensors, stores and results included; what else the function does
    is not done again. `check`: each call is recorded nevertheless, and compared with the first. A block ends in a
    barrier, so that each is one program.

    The tensors of a step are its arguments, by themselves or in lists, tuples and dicts. Raises StepError for a function
    that looks at values, draws, uses other tensors or returns views, or, with `check`, does something else.
    """
    return Step(function, check)
