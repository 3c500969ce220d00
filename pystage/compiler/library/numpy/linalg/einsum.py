"""`einsum`: sums of products that a string of labels describes.

Operands are contracted pairwise; for more than two, NumPy's `einsum_path` determines the order.
"""

from __future__ import annotations

import itertools
import operator
import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....values.bounded import Bounded, Extent
from ....values.gated import Gated
from ....values.lattice import Abstract, Const, Text
from ....values.views import Permuted, View
from ...context import Context, Raw
from ...operands.bounded_arguments import array_of, placed_argument
from ...operands.contraction import (
    Labelled,
    Labels,
    Precision,
    diagonal_views,
    ordered,
    product,
    summed_out,
    without_repeats,
)
from ...operands.libraries import ArrayArgument, Rules, twins, with_views
from ...operands.nested_sequences import elements
from ...rules.jax import is_none
from ..concatenation import check_casts
from ..indexing.bounded import bounded, refuse, viewed
from ..indexing.bounded_operands import result_with
from ..indexing.stores import cast
from .product_operands import aligned_operands, with_zeros
from .products import precision_of, stored_out


def _parsed(ctx: Context, rules: Rules, subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The labels of the operands' axes and of the result's; `...` stands for numbered labels."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        which = "fewer" if len(terms) > len(ranks) else "more"
        rules.mismatch(
            ctx, f"{which} operands provided to einstein sum function than specified in the subscripts string"
        )
    if not rules.is_jax and set(text) - set(string.ascii_letters + ",.->"):
        rules.mismatch(ctx, "invalid subscript in einstein sum subscripts string, subscripts must be letters")
    labelled = [_labels(ctx, rules, term, rank) for term, rank in zip(terms, ranks)]
    widest = max([sum(each.startswith("@") for each in labels) for labels in labelled])
    dots = tuple([f"@{i}" for i in range(widest - 1, -1, -1)])
    if arrow:
        result = _spelled(right, dots)
        known = set(itertools.chain(*labelled))
        if not set(result) <= known | set(dots) or len(set(result)) < len(result):
            rules.mismatch(
                ctx, "einstein sum subscripts string included an output subscript which never appeared"
            )
        return labelled, result
    counts = [label for labels in labelled for label in labels]
    once = sorted({label for label in counts if counts.count(label) == 1 and not label.startswith("@")})
    return labelled, (*dots, *once)


def _labels(ctx: Context, rules: Rules, term: str, rank: int) -> Labels:
    """The labels of one operand: the axes under `...` are numbered from the last one."""
    named = len(term.replace("...", ""))
    covered = rank - named if "..." in term else 0
    labels = _spelled(term, tuple([f"@{i}" for i in range(covered - 1, -1, -1)]))
    if len(labels) != rank or covered < 0:
        rules.mismatch(ctx, "einstein sum subscripts string contains too many subscripts for operand")
    return labels


def _spelled(term: str, dots: Labels) -> Labels:
    before, found, after = term.partition("...")
    return (*before, *(dots if found else ()), *after)


def _check_sizes(ctx: Context, rules: Rules, operands: Sequence[Labelled]) -> dict[str, int]:
    """The extent of each label; an axis of one element fits any."""
    sizes: dict[str, int] = {}
    for x in operands:
        for label, n in zip(x.labels, x.value.type.shape):
            if sizes.get(label, n) != n and 1 not in (n, sizes[label]):
                rules.mismatch(
                    ctx, f"operands could not be broadcast together: label {label} has {n} and {sizes[label]}"
                )
            sizes[label] = sizes.get(label, 1) if n == 1 else n
    return sizes


def _squeezed(ctx: Context, x: Labelled, sizes: dict[str, int]) -> Labelled:
    """The operand without axes of one element whose label has more elsewhere."""
    kept = [i for i, n in enumerate(x.value.type.shape) if n == sizes[x.labels[i]]]
    shape = tuple([x.value.type.shape[i] for i in kept])
    return Labelled(ctx.reshape(x.value, shape), tuple([x.labels[i] for i in kept]))


def _order(operands: Sequence[Labelled], result: Labels) -> list[tuple[int, ...]]:
    """The order in which operands are contracted."""
    if len(operands) <= 2:
        return [tuple(range(len(operands)))]
    names = dict(zip(dict.fromkeys(itertools.chain(*[x.labels for x in operands])), string.ascii_letters))
    terms = ["".join(names[label] for label in x.labels) for x in operands]
    text = ",".join(terms) + "->" + "".join(names[label] for label in result)
    stand_ins: list[Any] = [np.broadcast_to(0.0, x.value.type.shape) for x in operands]
    path, _ = np.einsum_path(text, *stand_ins, optimize="greedy")
    return [tuple(step) for step in path[1:]]


def _described(ctx: Context, first: Raw, rest: tuple[Raw, ...]) -> tuple[str, tuple[Raw, ...]]:
    """The subscripts as a string, and the operands; `einsum(x, [0, 1], y, [1, 2], [0, 2])` is another notation."""
    subscripts = first.value if isinstance(first, Const) else first
    if isinstance(subscripts, Gated | Text):
        subscripts = ctx.known(subscripts, "the subscripts of einsum")
    if isinstance(subscripts, str):
        return subscripts, rest
    given = (first, *rest)
    if len(given) < 2:
        ctx.raise_(ValueError("must specify the einstein sum subscripts string and at least one operand"))
    terms = [_spelled_out(ctx, labels) for labels in given[1::2]]
    text = ",".join(terms)
    if len(given) % 2:
        text += "->" + _spelled_out(ctx, given[-1])
    return text, given[: len(terms) * 2 : 2]


def _spelled_out(ctx: Context, labels: Raw) -> str:
    """A list of numbers below 52 and Ellipsis as letters and dots."""
    known = ctx.known(labels, "the subscripts of einsum")
    try:
        return "".join(["..." if n is Ellipsis else string.ascii_letters[operator.index(n)] for n in known])
    except (TypeError, IndexError):
        ctx.raise_(ValueError("subscript is not within the valid range [0, 52)"))


def _arranged(ctx: Context, rules: Rules, given: ArrayArgument, labels: Labels, result: Labels) -> list[View]:
    """The views of one operand that is not summed: diagonals of repeated labels, then the result's order."""
    _check_sizes(ctx, rules, [Labelled(given.value, labels)])
    views: list[View] = []
    shape = given.shape
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if shape[first] != shape[second]:
                ctx.fail(ArgumentNotStaged(span=ctx.span, function="einsum", argument=f"diagonal of {shape}"))
            views += diagonal_views(len(shape), 0, first, second)
            rest = [i for i in range(len(labels)) if i not in (first, second)]
            shape = (*[shape[i] for i in rest], shape[first])
            labels = (*[labels[i] for i in rest], label)
    return [*views, Permuted(tuple([labels.index(label) for label in result]))]


def _rearranged(
    ctx: Context, rules: Rules, raw: Raw, given: ArrayArgument, labels: Labels, result: Labels
) -> Abstract:
    """One operand that is not summed: views of it."""
    views = _arranged(ctx, rules, given, labels, result)
    if not isinstance(raw, Bounded):
        array = raw if elements(ctx, raw) is None else rules.array(ctx, given.value)
        return with_views(ctx, rules, array, views, "einsum")
    whole = raw.whole
    for view in views:
        whole = viewed(ctx, whole, view)
    return bounded(ctx, whole, [replace(e, axis=result.index(labels[e.axis])) for e in raw.extents])


@twins(np.einsum, jnp.einsum, delegates=False)
def einsum(
    ctx: Context,
    rules: Rules,
    subscripts: Raw,
    /,
    *operands: Raw,
    out: Raw = None,
    optimize: Raw = False,
    dtype: Raw = None,
    casting: Raw = "safe",
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """The sum of products over all labels that the result lacks."""
    text, operands = _described(ctx, subscripts, operands)
    if not rules.is_jax and not (is_none(precision) and is_none(preferred_element_type)):
        ctx.raise_(TypeError("einsum() got an unexpected keyword argument 'precision'"))
    if rules.is_jax and not (is_none(dtype) and is_none(out)):
        argument = "dtype" if is_none(out) else "out"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="jnp.einsum", argument=argument))
    given: list[ArrayArgument] = [placed_argument(ctx, rules, x, "einsum") for x in operands]
    labelled, result = _parsed(ctx, rules, text, [g.rank for g in given])
    computed = {label for labels, g in zip(labelled, given) for label in [labels[e.axis] for e in g.extents]}
    if any(labels.count(label) > 1 for labels in labelled for label in computed):
        refuse(ctx, "einsum along a diagonal", *operands)
    if len(given) == 1 and set(labelled[0]) == set(result) and is_none(out):
        return _rearranged(ctx, rules, operands[0], given[0], labelled[0], result)
    extents: dict[str, Extent] = {}
    if computed:
        given, extents = _aligned(ctx, rules, text, operands, given, labelled, result)
        if not is_none(out):
            refuse(ctx, "einsum with out", *operands)
    how = precision_of(ctx, rules, precision, preferred_element_type, "einsum")
    steps = None if rules.is_jax else _numpy_path(text, given, ctx.known(optimize, "optimize of einsum"))
    of_several = steps is not None and is_none(dtype) and len({g.dtype for g in given}) > 1
    values, weak = ([g.value for g in given], False) if of_several else rules.common(ctx, given)
    if not is_none(dtype):
        wanted = rules.dtype(ctx, dtype, "einsum")
        check_casts(ctx, given, wanted, ctx.known(casting, "casting of einsum"))
        values = [cast(ctx, v, wanted) for v in values]
    pending = [Labelled(v, labels) for v, labels in zip(values, labelled)]
    sizes = _check_sizes(ctx, rules, pending)
    pending = [without_repeats(ctx, _squeezed(ctx, x, sizes)) for x in pending]
    for step in steps if steps is not None and of_several else _order(pending, result):
        chosen = [pending[i] for i in step]
        pending = [x for i, x in enumerate(pending) if i not in step]
        kept = (*result, *itertools.chain(*[x.labels for x in pending]))
        if of_several:
            chosen = _in_common_type(ctx, chosen, kept, how)
        made = chosen[0]
        for i, other in enumerate(chosen[1:], 2):
            later = itertools.chain(*[x.labels for x in chosen[i:]])
            made = product(ctx, made, other, (*kept, *later), how)
        pending.append(summed_out(ctx, made, kept, how))
    value: Value = ordered(ctx, pending[0], result)
    if how.preferred is not None:
        value = ctx.convert(value, how.preferred)
    if not is_none(out):
        return stored_out(ctx, out, value, "einsum")
    if steps is not None and not value.type.shape and _gives_array(text, given, steps):
        return rules.array(ctx, value)
    made_array = rules.result(ctx, value, weak and how.preferred is None)
    return result_with(ctx, made_array, [extents.get(label, 0) for label in result])


def _aligned(
    ctx: Context,
    rules: Rules,
    text: str,
    operands: Sequence[Raw],
    given: Sequence[ArrayArgument],
    labelled: Sequence[Labels],
    result: Labels,
) -> tuple[list[ArrayArgument], dict[str, Extent]]:
    """At most two operands, which share at most one computed axis: zero beyond what is summed; and the computed axes."""
    if len(given) > 2:
        refuse(ctx, "einsum of these operands", *operands)
    arrays = [x if isinstance(x, Bounded) else array_of(ctx, rules, g) for x, g in zip(operands, given)]
    both = [label for label in labelled[0] if label in labelled[-1]] if len(given) == 2 else []
    pairs = [(labelled[0].index(label), labelled[1].index(label)) for label in both]

    def plain(*args: Any) -> Any:
        return rules.module.einsum(text, *args)

    aligned = aligned_operands(ctx, f"{rules.name}.einsum", plain, arrays, pairs)
    extents: dict[str, Extent] = {}
    made: list[ArrayArgument] = []
    for labels, o in zip(labelled, aligned):
        extents |= {label: axis for label, axis in zip(labels, o.axes) if isinstance(axis, Extent)}
        made.append(with_zeros(ctx, o, {i for i, label in enumerate(labels) if label not in result}))
    return made, extents


def _numpy_path(text: str, given: Sequence[ArrayArgument], optimize: Any) -> list[tuple[int, ...]] | None:
    """The steps in which NumPy contracts operands one after another; None where it takes all of them at once."""
    if optimize is False:
        return None
    stand_ins: list[Any] = [np.broadcast_to(0.0, g.shape) for g in given]
    path, _ = np.einsum_path(text, *stand_ins, optimize=optimize)
    return [tuple(step) for step in path[1:]]


def _in_common_type(
    ctx: Context, operands: Sequence[Labelled], kept: Labels, how: Precision
) -> list[Labelled]:
    """The operands of a step in their common type; of two, NumPy sums over labels of one alone before that."""
    if len(operands) == 2:
        first, second = operands
        operands = [
            summed_out(ctx, first, (*kept, *second.labels), how),
            summed_out(ctx, second, (*kept, *first.labels), how),
        ]
    dtype = np.result_type(*[x.value.type.dtype for x in operands])
    return [Labelled(ctx.convert(x.value, dtype), x.labels) for x in operands]


def _gives_array(text: str, given: Sequence[ArrayArgument], steps: Sequence[tuple[int, ...]]) -> bool:
    """Whether NumPy gives a result of rank 0 as an array: it does where the last step is a matrix product.

    Asked of the same steps with operands of at most two elements along each axis.
    """
    small: list[Any] = [np.ones([min(n, 2) for n in g.shape]) for g in given]
    return isinstance(np.einsum(text, *small, optimize=["einsum_path", *steps]), np.ndarray)
