"""Lowerings that a user registers: another implementation of an operation, for one platform or for all.

In: a program for a platform. Out: the same program, in which operations with a registered lowering are calls of JAX
functions (`JaxCall`), whose own lowering takes their place. Derivatives and batches are made before, by the operation's
rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from ...records import dataclass
from ..hlo.ir import Function, Op
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.types import ArrayType
from ..hlo.walk import kinds
from ..ops import concrete
from ..ops.foreign.jax_call import ArrayLeaf, JaxCall, JaxCallError, JaxSettings, Leaf, Static

Rule = TypeVar("Rule", bound="Callable[..., Any] | None")
_registered: dict[tuple[str, str | None], Callable[..., Any]] = {}
_ALSO = {"cuda": "gpu", "rocm": "gpu"}
_PLATFORMS = (None, "cpu", "gpu", "cuda", "rocm", "tpu")


def lowering(op: str, *, platform: str | None = None) -> Callable[[Rule], Rule]:
    """Registers another lowering of an operation, in place of pystage's own, and gives a decorator for it.

        >>> @pystage.lowering("tanh", platform="cpu")
        ... def rational(op, x):
        ...     return x * (27 + x * x) / (27 + 9 * x * x) if x.dtype == np.float32 else NotImplemented
        >>> pystage.lowering("tanh", platform="cpu")(None)  # takes it away

    `op` is the operation's name, as `pystage.code_typed` prints it (StableHLO's). `platform`: `"cpu"`, `"gpu"` (or `"cuda"`,
    `"rocm"` alone), `"tpu"`, None for all. The function is one of JAX's: it gets the operation, whose attributes are its
    static operands, and arrays, and gives the results, arrays of the shapes and dtypes that the operation has; or
    NotImplemented, and the operation is lowered as without it. It holds for what is compiled from then on, and not for
    what runs as plain Python or in NumPy; derivatives are those of the operation. Where a module is for several platforms
    (`jax.export`), the lowerings for all platforms are used.

    ValueError for an operation that there is not, or that holds regions (loops, branches, calls), or for another platform.
    TypeError where a program is compiled, for results of other types.
    """
    known = {kind.opcode: kind for kind in concrete()}
    if op not in known:
        close = difflib.get_close_matches(op, known, 1)
        raise ValueError(f"there is no operation {op!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
    if known[op].regions or op == JaxCall.opcode:
        raise ValueError(f"{op!r} has no other lowering: it holds programs of its own")
    if platform not in _PLATFORMS:
        raise ValueError(f"platform must be one of {', '.join(map(repr, _PLATFORMS))}, not {platform!r}")

    def register(rule: Rule) -> Rule:
        if rule is None:
            _registered.pop((op, platform), None)
        else:
            _registered[op, platform] = rule
        return rule

    return register


def with_registered_lowerings(function: Function, *platforms: str) -> Function:
    """Rewrites `function`, and all that it calls, for these platforms."""
    if not _registered:
        return function
    names: list[str | None] = [None]
    if len(platforms) == 1:
        names = [platforms[0], _ALSO.get(platforms[0]), None]
    rules = {
        op: rule for name in reversed(names) for (op, where), rule in _registered.items() if where == name
    }
    if not any(kind.opcode in rules for kind in kinds(function)):
        return function
    return _ReplaceLowered(rules).function(function)


@dataclass(frozen=True)
class _RegisteredLowering:
    """A registered function for one operation."""

    rule: Callable[..., Any]
    op: HloOp

    @property
    def __name__(self) -> str:
        return str(getattr(self.rule, "__name__", self.op.opcode))

    def __call__(self, *operands: Any) -> Any:
        return self.rule(self.op, *operands)


class _ReplaceLowered(Rewriter):
    def __init__(self, rules: dict[str, Callable[..., Any]]) -> None:
        super().__init__()
        self._rules = rules

    def op(self, op: Op) -> None:
        rule = self._rules.get(op.kind.opcode)
        call = None if rule is None else _call(_RegisteredLowering(rule, op.kind), op)
        if call is None:
            self.copy(op)
            return
        made = self.b.ops(call, *self.new_all(op.operands))
        self.values.update(zip(op.results, made, strict=True))


def _call(rule: _RegisteredLowering, op: Op) -> JaxCall | None:
    """The call in place of an operation; None where the rule leaves it as it is."""
    settings = replace(JaxSettings.current(), enable_x64=True, numpy_dtype_promotion="standard")
    call, _ = JaxCall.bind(rule, [ArrayLeaf(v.type) for v in op.operands], {}, _described, settings)
    try:
        found = call.result
    except JaxCallError as error:
        raise error.__cause__ or error from None
    if [leaf.value for leaf in found.leaves if isinstance(leaf, Static)] == [NotImplemented]:
        return None
    wanted = [v.type for v in op.results]
    if list(found.types) != wanted or len(found.leaves) != len(wanted):
        what = f"the lowering {rule.__name__!r} of {rule.op.opcode!r} gives"
        raise TypeError(f"{what} {_texts(found.types)}, and the operation {_texts(wanted)}")
    return call


def _described(leaf: Any) -> Leaf:
    return leaf if isinstance(leaf, ArrayLeaf) else Static(leaf)


def _texts(types: Any) -> str:
    return ", ".join([str(type_) for type_ in types if isinstance(type_, ArrayType)]) or "no array"
