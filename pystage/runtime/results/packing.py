"""Packing of the numbers that a program gives, such as the elements of a list, into arrays for XLA.

JAX takes two microseconds for each result of a run, and XLA more where they are many. The program gives arrays
(`passes/boundary_vectors.py`), and the host reads each of them at once.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...compiler.passes.boundary_vectors import Result
from ...compiler.pipeline import Staged, outputs
from ...compiler.values.boundary import Form
from ...records import dataclass

_LISTED: dict[Form, Callable[[Any], Iterable[Any]]] = {Form.PYTHON: np.ndarray.tolist, Form.SCALAR: iter}


@dataclass(frozen=True, slots=True)
class Packing:
    """The results of a program, by index, as it gives them: `singles`, and then each of `groups` as a vector.

    A group is of Python numbers or of NumPy's.
    """

    singles: tuple[int, ...]
    groups: tuple[tuple[Form, tuple[int, ...]], ...]
    _in_order: Callable[[Sequence[Any]], Sequence[Any]] = field(compare=False)

    @property
    def results(self) -> list[Result]:
        """What the program gives: results, and those that are the elements of a vector."""
        return [*self.singles, *[group for _, group in self.groups]]

    @property
    def numbers(self) -> frozenset[int]:
        """The results that are Python numbers once they are unpacked."""
        return frozenset(itertools.chain(*[group for form, group in self.groups if form is Form.PYTHON]))

    def singles_of(self, indices: Collection[int]) -> frozenset[int]:
        """The places among the singles of these results."""
        return frozenset([place for place, index in enumerate(self.singles) if index in indices])

    def unpacked(self, values: Sequence[Any]) -> Sequence[Any]:
        """The results by index, of what a run of the program has given."""
        count = len(self.singles)
        found = [*values[:count]]
        for (form, _), vector in zip(self.groups, values[count:], strict=True):
            found += _LISTED[form](np.asarray(vector))
        return self._in_order(found)


def packing_of(staged: Staged) -> Packing | None:
    """The packing of a program's results; None where they stay as they are."""
    types = staged.function.result_types
    forms: dict[int, Form] = {}
    for output in outputs(staged.program):
        if output.key_impl:
            return None
        before = forms.setdefault(output.index, output.form)
        if before is not output.form:
            forms[output.index] = Form.SCALAR if {before, output.form} == _LISTED.keys() else Form.JAX
    groups: dict[tuple[Form, Any], list[int]] = {}
    for index, form in sorted(forms.items()):
        type = types[index]
        if (
            form in _LISTED
            and not type.shape
            and type.dtype.kind in "biufc"
            and index != staged.program.printed
        ):
            groups.setdefault((form, type.dtype), []).append(index)
    packed = [(form, tuple(group)) for (form, _), group in groups.items() if len(group) > 1]
    if not packed:
        return None
    elements = [*itertools.chain(*[group for _, group in packed])]
    singles = tuple(sorted({*range(len(types))} - {*elements}))
    places = {index: place for place, index in enumerate([*singles, *elements])}
    in_order = operator.itemgetter(*[places[index] for index in range(len(types))])
    return Packing(singles, tuple(packed), in_order)
