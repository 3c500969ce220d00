"""Calls of JAX functions that distinguish numbers and ndarrays from `jax.Array`s.

In: a traced call, whose trace has `jax.Array`s in place of numbers and ndarrays, and its arguments. Out: the parts of its
result that are no `jax.Array`s: an answer about classes (`jnp.isscalar(x)`), or an argument that is returned. To find
them, the call is traced again with stand-ins of the arguments' own classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax._src.core import ClosedJaxpr, Jaxpr

from ...ops.foreign.jax_call import ArrayLeaf, JaxCall, JaxCallError, Leaf, NotOfArrays, Static, Trace
from ...policy import is_of_jax
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const
from ..rules.promote import python_type


def leaves_of_own_kinds(
    call: JaxCall, given: Sequence[Array | Const], own: Sequence[Abstract]
) -> list[Abstract | None]:
    """The leaves of the call's result that are no arrays of JAX's, None for those that are.

    `given` are the leaves of the arguments as they were described to JAX, `own` the same leaves as the program has them.
    `NotOfArrays` for numbers and ndarrays that the function computes, and for answers that depend on them.
    """
    trace = call.result
    plain: list[Abstract | None] = [Const(x.value) if isinstance(x, Static) else None for x in trace.leaves]
    if all(isinstance(x, Const) or x.form is Form.JAX for x in given):
        return plain
    runs = [_traced_with_stand_ins(call, given, 0)]
    found = runs[0][1]
    if found is None and trace.types:
        return plain
    if found is None:
        raise NotOfArrays("does not answer for numbers and ndarrays as for arrays of JAX")
    if not is_of_jax(call.function.value) and _primitives(found.jaxpr) != _primitives(trace.jaxpr):
        raise NotOfArrays("does something else for numbers and ndarrays than for arrays of JAX")
    if len(found.leaves) != len(trace.leaves):
        raise NotOfArrays("gives another structure for numbers and ndarrays than for arrays of JAX")
    if any(isinstance(leaf, Static) for leaf in found.leaves):
        runs.append(_traced_with_stand_ins(call, given, 1))
    return [_leaf(i, leaf, runs, own) for i, leaf in enumerate(trace.leaves)]


_Run = tuple[Sequence[Leaf], Trace | None]
"""The leaves of the arguments with stand-ins, and the call's trace with them; None if JAX refuses them."""


def _leaf(place: int, leaf: Leaf, runs: Sequence[_Run], own: Sequence[Abstract]) -> Abstract | None:
    """The leaf of the result at a place, `leaf` in the trace; None for an array of JAX's."""
    answers = [None if trace is None else trace.leaves[place] for _, trace in runs]
    if all(isinstance(x, ArrayLeaf) for x in (leaf, *answers)):
        return None
    for i, argument in enumerate(own):
        if all(_is_same(x, standing[i]) for x, (standing, _) in zip(answers, runs, strict=True)):
            return argument
    answer = answers[0]
    if isinstance(leaf, Static) and isinstance(answer, Static) and all(x == answer for x in answers):
        return Const(answer.value)
    raise NotOfArrays("gives numbers or ndarrays")


def _is_same(a: Leaf | None, b: Leaf) -> bool:
    """True for one object; of several bools those of all runs tell it."""
    return isinstance(a, Static) and isinstance(b, Static) and a.value is b.value


_CONVERSIONS = frozenset({"convert_element_type", "broadcast_in_dim", "copy", "copy_p"})
"""Primitives that a trace may have for arrays alone: constants are converted at once."""


def _primitives(program: ClosedJaxpr | Jaxpr) -> list[str]:
    """The operations of a program, without conversions: the names of its primitives in order, inner programs included."""
    names = []
    for eqn in (program.jaxpr if isinstance(program, ClosedJaxpr) else program).eqns:
        if eqn.primitive.name not in _CONVERSIONS:
            names.append(eqn.primitive.name)
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                if isinstance(inner, ClosedJaxpr | Jaxpr):
                    names += _primitives(inner)
    return names


def _traced_with_stand_ins(call: JaxCall, given: Sequence[Array | Const], number: int) -> _Run:
    """A trace of the call in which `number` is the value of all stand-ins."""
    leaves = [
        leaf if isinstance(x, Const) or x.form is Form.JAX else Static(_stand_in(x, number))
        for leaf, x in zip(call.leaves, given, strict=True)
    ]
    try:
        return leaves, call.with_leaves(leaves).traced_anew()
    except JaxCallError:
        return leaves, None


def _stand_in(array: Array, number: int) -> Any:
    """A new object of the class, element type and shape of `array`; `number` is the value of all elements."""
    if array.form is Form.NDARRAY:
        return np.zeros(array.shape, array.dtype) if not number else np.ones(array.shape, array.dtype)
    cls = array.dtype.type if array.form is Form.SCALAR else python_type(array.dtype)
    return cls(_NOT_SHARED + number) if cls is int else cls(number)


_NOT_SHARED = 1000
"""Beyond the integers of which CPython has one object each."""
