"""Infers one function with one assignment of sizes, and gives its problems."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import count, product
from typing import Any

from ...compiler.diagnostics.codes_calls import InternalError
from ...compiler.diagnostics.codes_runtime import ValueNotGiven
from ...compiler.diagnostics.codes_types import CertainlyRaises, ResultNotAsAnnotated
from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ...compiler.diagnostics.errors import StagingError
from ...compiler.diagnostics.span import Span
from ...compiler.infer.diagnostics.trail import Trail, watching
from ...compiler.pipeline import Staged
from ...explain.explanation import STAND_INS, refusals
from ...explain.raises import raises
from ...records import dataclass
from ...runtime.arguments.targets import target_of
from ..annotations import Sizes
from ..targets import as_written
from .functions import Checked, NotChecked
from .results import Results

_OF_SHAPES = {"PS201", "PS206", "PS222"}
_FLAGS = 3
"""A function with more flags would be inferred too often."""


@dataclass(frozen=True)
class Inference:
    """Infers a function. `returns` is the place of its return annotation."""

    checked: Checked
    returns: Span | None

    def diagnostics(self, sizes: Sizes) -> list[Diagnostic]:
        """What is wrong with these sizes, whatever the flags are. `NotChecked` where it cannot be said."""
        flags = self.checked.parameters_of(bool)
        if not flags:
            return self._diagnostics(sizes, {})
        if len(flags) > _FLAGS:
            raise NotChecked(f"it has {len(flags)} flags; give some a default")
        found: list[Diagnostic] = []
        for values in product((False, True), repeat=len(flags)):
            given = dict(zip(flags, values, strict=True))
            note = Note("with " + ", ".join([f"{name} = {value}" for name, value in given.items()]))
            for each in self._diagnostics(sizes, given):
                if not any((each.code, each.span) == (known.code, known.span) for known in found):
                    found.append(replace(each, notes=(note, *each.notes)))
        return found

    def _diagnostics(self, sizes: Sizes, flags: Mapping[str, bool]) -> list[Diagnostic]:
        """What is wrong with these flags.

        An integer whose value the compiler must know gets one as a dimension of its name does. Where it is no dimension,
        that shows only that the program is right for some value.
        """
        given: dict[str, int] = {}
        while True:
            args, kwargs = self.checked.arguments(sizes, {**flags, **given})
            found = self._inferred(args, kwargs, sizes)
            wanted = next((d for d in found if isinstance(d, ValueNotGiven)), None)
            if wanted is not None:
                if wanted.path in given or wanted.path not in self.checked.parameters_of(int):
                    raise NotChecked(f"the value of `{wanted.path}` must be known for {wanted.reason}")
                given[wanted.path] = sizes[wanted.path]
                continue
            sizes_only = given.keys() <= self._dimensions(flags) and all(map(_is_of_shapes, found))
            if given and found and not (sizes_only or self._is_refused(sizes, flags, given, found)):
                names = " and ".join([f"`{name}`" for name in given])
                raise NotChecked(f"the value of {names} must be known; give it a default")
            return found

    def _is_refused(
        self, sizes: Sizes, flags: Mapping[str, bool], given: Mapping[str, int], found: Sequence[Diagnostic]
    ) -> bool:
        """True if these are refusals that other values have too."""
        wanted = refusals(found)
        others = [self.checked.arguments(sizes, {**flags, **dict.fromkeys(given, n)}) for n in STAND_INS]
        return wanted is not None and all(refusals(self._inferred(*each, sizes)) == wanted for each in others)

    def _dimensions(self, flags: Mapping[str, bool]) -> Set[str]:
        """The names of dimensions in the annotations."""
        sizes = Sizes({}, count(2))
        self.checked.arguments(sizes, flags)
        return sizes.keys()

    def _inferred(self, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Sizes) -> list[Diagnostic]:
        try:
            with watching(Trail()):
                staged = self.checked.function.staged(*args, **kwargs)
        except StagingError as error:
            return list(error.diagnostics)
        except Exception as error:
            return [InternalError(span=self.checked.span, text=f"{type(error).__name__}: {error}")]
        return [*raises(staged.program), *self._not_as_annotated(staged, args, kwargs, sizes)]

    def _not_as_annotated(
        self, staged: Staged, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Sizes
    ) -> list[Diagnostic]:
        annotations, failure = self.checked.annotations, staged.program.failure
        if "return" not in annotations or (failure is not None and isinstance(failure.code, int)):
            return []
        results = Results(staged.program, self._by_name(args, kwargs), sizes)
        found = results.mismatch(annotations["return"])
        return [] if found is None else [ResultNotAsAnnotated(span=self.returns, **found._asdict())]

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
        target = target_of(as_written(self.checked.function))
        return inspect.signature(target.fn).bind(*target.args, *args, **{**target.kwargs, **kwargs}).arguments


def _is_of_shapes(diagnostic: Diagnostic) -> bool:
    """True for what is wrong whatever the values of the program's integers are, as long as they are sizes."""
    if isinstance(diagnostic, CertainlyRaises):
        return diagnostic.exception == "ValueError"
    return diagnostic.code in _OF_SHAPES
