"""The program of a step: from the parameters of a call to its results and stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.hlo.interpret import interpret
from ...compiler.values.boundary import Form
from ...compiler.values.lattice import same_constant
from ...compiler.values.views import View
from ...records import dataclass
from ...runtime.results.objects import view_maker
from ..arena import arena_of
from ..array import LazyTensor
from ..barrier import execute
from ..counting import counts
from ..graph import Node
from ..liveness import donated_inputs
from ..recipes import TensorKind
from ..recorder import is_static
from ..segment import Segment, leaves_of, program_of
from ..tensor import Tensor, assign, node_of, owner, owner_of, view_of
from .arguments import Call, Reference, Structure, rebuilt, set_attribute
from .recording import Parameter, Recording


@dataclass(frozen=True, slots=True)
class _Argument(Reference):
    """A leaf or a container of the arguments that is returned."""

    index: int
    is_container: bool = False


@dataclass(frozen=True, slots=True)
class _Made(Reference):
    """A new tensor, output `index`; a Python number, where the form of its kind is that."""

    index: int
    kind: TensorKind


@dataclass(frozen=True, slots=True)
class _View(Reference):
    """A view of a new tensor, or of a parameter (by its number)."""

    base: Any
    kind: TensorKind
    path: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class _Constant(Reference):
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and same_constant(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


class StepProgram:
    """The recording of one call of a step."""

    def __init__(
        self,
        recording: Recording,
        call: Call,
        bases: list[Any],
        given: Any,
        result: Any,
        assigned: Sequence[tuple[int, str, Any]],
    ) -> None:
        """`given` is what the function got, with `bases` for the parameters. The recording runs still.

        `assigned`: values of attributes, by the numbers of containers, and names.
        """
        self.name = recording.name
        self.demanded = tuple(sorted(recording.demanded))
        self._outputs: list[Node] = []
        after = Structure(given)
        leaves = {id(leaf): i for i, leaf in enumerate(after.leaves)}
        containers: dict[int, tuple[Any, Any]] = {
            id(each): (each, _Argument(i, True)) for i, each in enumerate(after.containers)
        }
        self._references: dict[int, Any] = {}
        self._bases = {id(base): n for n, base in enumerate(bases)}

        def reference(leaf: Any) -> Any:
            if isinstance(leaf, Tensor) or not _is_constant(leaf):
                known = leaves.get(id(leaf))
                if known is not None:
                    return _Argument(known)
            if isinstance(leaf, Tensor):
                found = self._references.get(id(leaf))
                if found is None:
                    found = self._references[id(leaf)] = self._made(leaf)
                return found
            if not _is_constant(leaf):
                recording.refuse(f"returns a {type(leaf).__name__} that is no argument")
            return _Constant(leaf)

        self._result = rebuilt(result, reference, containers)
        self._assigned = [(i, name, rebuilt(value, reference, containers)) for i, name, value in assigned]
        self._stored = [
            (n, self._number(node))
            for n, node in enumerate(map(node_of, bases))
            if not isinstance(node, Parameter) or node.place != n
        ]
        of_numbers = [node for node in recording.checks if all(map(_is_number, leaves_of(node)))]
        self._first_check = _NumberCheck(of_numbers) if of_numbers else None
        self._checks = [self._number(node) for node in recording.checks if node not in of_numbers]
        self._compute(recording)
        del self._references, self._bases

    def _made(self, tensor: Any) -> _Made | _View | int:
        base = owner_of(tensor)
        if base is tensor:
            if id(tensor) in self._bases:
                return self._bases[id(tensor)]
            return _Made(self._number(node_of(tensor)), tensor._kind)
        number = self._bases.get(id(base))
        if number is None:
            made = self._references.get(id(base))
            if made is None:
                made = self._references[id(base)] = self._made(base)
            return _View(made, tensor._kind, tensor._path)
        return _View(number, tensor._kind, tensor._path)

    def _number(self, node: Node) -> int:
        """The index of a node among the outputs, to which it is added."""
        for i, each in enumerate(self._outputs):
            if each is node:
                return i
        self._outputs.append(node)
        return len(self._outputs) - 1

    def _compute(self, recording: Recording) -> None:
        outputs = self._outputs
        self._segment = Segment([node for node in outputs if node.call is not None])
        self._inputs = [node.place if isinstance(node, Parameter) else node for node in self._segment.inputs]
        self._sources: list[Any] = [
            None if node.call is not None else node.place if isinstance(node, Parameter) else node
            for node in outputs
        ]
        """Of each output: None if it is computed, else the parameter or the constant that it is."""
        if any(node.device != recording.device for node in self._segment.inputs):
            recording.refuse("computes on two devices")

    def repeats(self, other: StepProgram) -> bool:
        """True if another call has recorded the same."""
        mine, others = [Structure((each._result, each._assigned)) for each in (self, other)]
        return (
            self._segment.key == other._segment.key
            and self._stored == other._stored
            and self._checks == other._checks
            and mine.key == others.key
            and mine.leaves == others.leaves
            and len(self._sources) == len(other._sources)
            and all(map(_same_source, self._inputs, other._inputs))
            and all(map(_same_source, self._sources, other._sources))
        )

    def run(self, call: Call, function: Callable[..., Any]) -> Any:
        """Runs the program for a call. If the call raises, `function` runs it as plain Python."""
        with arena_of(call.device).lock:
            outputs = self._computed(call)
            if outputs is None:
                return function(*call.args, **call.kwargs)
            for n, number in self._stored:
                _store(call.owners[n], outputs[number])
            leaf = _Results(call, outputs).leaf
            made: dict[int, tuple[Any, Any]] = {}
            for i, name, value in self._assigned:
                set_attribute(call.structure.containers[i], name, rebuilt(value, leaf, made))
            return rebuilt(self._result, leaf, made)

    def _computed(self, call: Call) -> list[Node] | None:
        """The outputs; None if the call raises, or is too large for one program."""
        nodes = call.nodes()
        if self._first_check is not None and self._first_check.fails(nodes):
            return None
        inputs = [nodes[i] if isinstance(i, int) else i for i in self._inputs]
        computed = [Node(node.type, call.device, None) for node in self._segment.outputs]
        rest = iter(computed)
        outputs = [next(rest) if s is None else nodes[s] if isinstance(s, int) else s for s in self._sources]
        if not computed:
            return outputs
        released = self._release(call, nodes, outputs)
        del nodes  # nobody but the segment shall hold what is overwritten
        try:
            ran = self._execute(inputs, computed)
        except BaseException:
            self._give_back(call, released, inputs)
            raise
        if not ran or any(np.asarray(outputs[check].array) for check in self._checks):
            self._give_back(call, released, inputs)
            return None
        return outputs

    def _release(self, call: Call, nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[int, Node | None]:
        """Lets the tensors that are stored into hold the new nodes, unless the call may raise.

        Gives their numbers, with the old node where no input holds it.
        """
        if self._checks:
            return {}
        released: dict[int, Node | None] = {}
        for n, number in self._stored:
            tensor = call.owners[n]
            if isinstance(tensor, LazyTensor) and tensor._host is None:
                released[n] = None if n in self._inputs else nodes[n]
                tensor._node = outputs[number]
        return released

    def _give_back(self, call: Call, released: dict[int, Node | None], inputs: Sequence[Node]) -> None:
        for n, node in released.items():
            call.owners[n]._node = inputs[self._inputs.index(n)] if node is None else node

    def _execute(self, inputs: list[Node], computed: Sequence[Node]) -> bool:
        """Computes the nodes; False if that is too large for one program."""
        donated = () if self._checks else donated_inputs(inputs, computed)
        ran = execute(self._segment, inputs, computed, donated, f"the step `{self.name}`")
        if ran:
            counts.note_step(self.name)
        return ran


class _NumberCheck:
    """Decides whether a call raises from its numbers alone, before anything is computed."""

    def __init__(self, checks: Sequence[Node]) -> None:
        segment = Segment(checks)
        staged = program_of(segment)
        self._function = staged.function
        self._inputs = [segment.inputs[i] for i in staged.kept]

    def fails(self, nodes: Sequence[Node]) -> bool:
        """True if a call with these parameters raises."""
        inputs = [nodes[node.place] if isinstance(node, Parameter) else node for node in self._inputs]
        return any(interpret(self._function, [np.asarray(node.array) for node in inputs]))


class _Results:
    """The objects of the references in the result of one call."""

    __slots__ = ("_call", "_made", "_outputs")

    def __init__(self, call: Call, outputs: Sequence[Node]) -> None:
        self._call = call
        self._outputs = outputs
        self._made: dict[int, Any] = {}

    def leaf(self, reference: Any) -> Any:
        """The object for a reference; the same each time."""
        match reference:
            case _Constant(value=value):
                return value
            case _Argument(index=index, is_container=is_container):
                return (self._call.structure.containers if is_container else self._call.leaves)[index]
            case int():
                return self._call.owners[reference]
        if id(reference) not in self._made:
            self._made[id(reference)] = self._new(reference)
        return self._made[id(reference)]

    def _new(self, reference: _Made | _View) -> Any:
        if isinstance(reference, _Made):
            node = self._outputs[reference.index]
            is_number = reference.kind.form is Form.PYTHON
            return np.asarray(node.array).item() if is_number else owner(node, reference.kind)
        base = self.leaf(reference.base)
        if type(base) is np.ndarray:
            for step in reference.path:
                base = view_maker(step)(base)
            return base
        view = view_of(base, reference.path)
        view._kind = reference.kind
        return view


def _store(target: Any, node: Node) -> None:
    if type(target) is np.ndarray:
        np.copyto(target, np.asarray(node.array))
    elif target._node is not node:
        assign(target, node)


def _is_number(node: Node) -> bool:
    """True for a number among the arguments, and for a constant."""
    return node.array is not None or (isinstance(node, Parameter) and node.number is not None)


def _same_source(a: Any, b: Any) -> bool:
    """True if two inputs are the same parameter, or constants of the same bits."""
    if isinstance(a, Node) and isinstance(b, Node):
        return np.asarray(a.array).tobytes() == np.asarray(b.array).tobytes()
    return bool(a == b)


def _is_constant(value: Any) -> bool:
    return is_static(value) or isinstance(value, int | float | complex | np.generic)
