"""The programs of segments in buckets: source that is inferred for padded arrays, compiled, and run for many sizes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.types import ArrayType
from ...compiler.infer.entry import infer_program
from ...compiler.limits import PROGRAMS_IN_BUCKETS
from ...compiler.pipeline import Request, Staged, build
from ...compiler.values.boundary import (
    ContainerTemplate,
    Form,
    LeafSpec,
    OutputTemplate,
    Template,
    ViewTemplate,
)
from ...compiler.values.evaluation import Evaluation
from ...runtime.buckets import function_of_text
from ...runtime.executables.stack import with_stack_reserve
from ...runtime.results.objects import view_step
from ..devices import is_cpu, put
from ..graph import Node
from ..interpreting import own
from ..meshes.specs import as_far_as_divided
from ..segment import Executable, Key
from .source import SegmentSource


class _NotServed(Exception):
    """Raised for a program that does more than give arrays, or raises."""


class BucketProgram:
    """A compiled source text. It takes some of the arrays: the sizes, then the inputs."""

    def __init__(self, staged: Staged, donated: Sequence[int], name: str) -> None:
        program, result = staged.program, staged.program.result
        failure = program.failure
        code = None if failure is None else failure.code
        if (
            program.hidden
            or program.mutations
            or program.draws is not None
            or program.printed is not None
            or isinstance(code, int)
            or not isinstance(result, ContainerTemplate)
        ):
            raise _NotServed
        self._failure = code
        self._is_refused = False
        """True once a run has shown that the source is not what was recorded."""
        self._leaves = program.leaves
        self._parts = [_part_of(template) for template in result.children]
        taken = [program.leaves[i] for i in staged.kept]
        overwritten = () if failure is not None else [self._leaves.index(i) for i in donated if i in taken]
        self._executable = Executable(staged, tuple(overwritten), name)

    def run(self, arrays: Sequence[Any], outputs: Sequence[Node]) -> list[Any] | None:
        """The arrays for the outputs; None where the program has raised, or given other shapes."""
        results = None if self._is_refused else self._run(arrays, outputs)
        self._is_refused = results is None
        return results

    def _run(self, arrays: Sequence[Any], outputs: Sequence[Node]) -> list[Any] | None:
        found = self._executable([arrays[i] for i in self._leaves])
        if self._failure is not None and int(found[self._failure.index]):
            return None
        results = []
        for (index, steps), node in zip(self._parts, outputs, strict=True):
            array = found[index]
            if steps:
                part = np.asarray(array)
                for step in steps:
                    part = step(part, Evaluation(found, {}))
                array = _placed(own(part), node.device, array.sharding)
            if array.shape != node.type.shape:
                return None
            results.append(array)
        return results


_Step = Callable[[Any, Evaluation], Any]


def _part_of(template: Template) -> tuple[int, list[_Step]]:
    """The result that an array is a part of, and the steps to it."""
    steps: list[_Step] = []
    while isinstance(template, ViewTemplate):
        steps = [*map(view_step, template.steps), *steps]
        template = template.base
    if not isinstance(template, OutputTemplate):
        raise _NotServed
    return template.index, steps


def _placed(array: np.ndarray[Any, Any], device: Any, sharding: Any) -> Any:
    """An array on a device, or on a mesh with a sharding as far as that divides it."""
    if is_cpu(device):
        return array
    if isinstance(device, Mesh):
        spec = sharding.spec if isinstance(sharding, NamedSharding) else PartitionSpec()
        return put(array, as_far_as_divided(device, spec, array.shape))
    return put(array, device)


_programs: OrderedDict[Key, BucketProgram | tuple[int, ...] | None] = OrderedDict()
"""By source and types: the program, None where it is refused; or the numbers that it depends on, then by these, too."""
_lock = threading.Lock()


def program_of(
    source: SegmentSource, arrays: Sequence[Any], donated: Sequence[int], name: str
) -> tuple[BucketProgram | None, bool]:
    """The program of a source for arrays of these types, the sizes first, and whether it is new (True).

    None where it is refused. The arrays at `donated` may be overwritten.
    """
    types = [ArrayType(array.dtype, array.shape) for array in arrays]
    forms = [Form.NDARRAY, *source.forms]
    key: Key = (source.text, source.constants, *types, *forms, *donated)
    with _lock:
        known = _programs.get(key, ())
        demanded = known if isinstance(known, tuple) else ()
        numbers = {i: np.asarray(arrays[i]).item() for i, form in enumerate(forms) if form is Form.PYTHON}
        place = (key, *[repr(numbers[i]) for i in demanded]) if demanded else key
        if place in _programs and not isinstance(found := _programs[place], tuple):
            _programs.move_to_end(place)
            return found, False
    specs = [LeafSpec(i, *kind) for i, kind in enumerate(zip(types, forms, strict=True))]
    function = function_of_text(source.text, dict(source.scope))
    request = Request(
        function, name, None, tuple(specs), {}, value_of=numbers.get, path_of="operand {}".format
    )
    program = None
    static: Mapping[int, Any] = {i: numbers[i] for i in demanded}
    try:
        with jax.enable_x64(True), jax.core.eval_context():
            staged = with_stack_reserve(lambda: build(infer_program, request, static))
        static = staged.static
        program = BucketProgram(staged, donated, name)
    except (StagingError, _NotServed):
        pass
    with _lock:
        if static:
            _programs[key] = tuple(sorted(static))
            key = (key, *[repr(numbers[i]) for i in sorted(static)])
        _programs[key] = program
        while len(_programs) > PROGRAMS_IN_BUCKETS:
            _programs.popitem(last=False)
    return program, program is not None
