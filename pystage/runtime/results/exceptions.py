"""Raises a program's exception: from its error code to the exception of the plain run.

In: the outputs of a run. Out: nothing, or `Raised` with the genuine exception and a traceback through the lines of the
user's functions, as if they had run.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...compiler.diagnostics.codes_runtime import CapacityOutgrown
from ...compiler.diagnostics.errors import StagingError
from ...compiler.diagnostics.span import Span
from ...compiler.diagnostics.traceback import shows_all_frames
from ...compiler.policy import is_own_file
from ...compiler.values.boundary import Failure, Form, OutputTemplate
from ...compiler.values.capacity import CapacityExceeded
from ...compiler.values.exceptions import Evaluate, chain, origin, rebuild_exception
from ..outcomes import Raised


class AsRaisedByTheProgram:
    """A `with` block from which an exception of the program leaves as if raised by the user's lines.

    What the program was handling stays its context, and gets for its own what the caller is handling, which `raise`
    has put in its place. Its traceback goes from the caller to the user's lines (`AtTheCall` says why no frame is added).
    """

    __slots__ = ("_exception", "_inside", "_traceback")

    def __init__(self, exception: BaseException) -> None:
        self._exception = exception
        self._inside = exception.__context__
        self._traceback = exception.__traceback__

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        exception, inside = self._exception, self._inside
        outside, exception.__context__ = exception.__context__, inside
        if outside is not None and outside is not inside:
            chain(exception, outside)
        if not shows_all_frames():
            exception.__traceback__ = self._traceback


def code_of(failure: Failure, values: Sequence[Any]) -> int:
    """The number of the raise site where the program raised; 0 if it did not. Waits for the program."""
    if isinstance(failure.code, int):
        return failure.code
    return int(np.asarray(values[failure.code.index]))


def raised(failure: Failure, number: int, values: Sequence[Any], evaluate: Evaluate) -> Raised:
    """The exception of the raise site with this number."""
    site = failure.find(number)
    payload = {key: values[index] for key, index in failure.payload.items()}
    exception = rebuild_exception(site, payload, failure.find, evaluate)
    first = origin(site, payload, failure.find)
    places = [p for p in (first.span, *first.chain) if p is not None and not is_own_file(p.file)]
    return Raised(exception, _traceback(exception, places[::-1]))


def raised_at(exception: BaseException, place: Span | None) -> Raised:
    """An exception that the host raised for a user's line."""
    return Raised(exception, _traceback(exception, [] if place is None else [place]))


def raise_from_host(failure: Failure, values: Sequence[Any], evaluate: Evaluate) -> None:
    """Under JAX's own transformations: makes the program call the host, which raises, if it has raised.

    What it raises whatever its values are is raised at once, as where JAX traces the plain function. Else JAX raises an
    error of its own, with the text of the exception. Under `jax.vmap` the host is asked for each element of the batch.
    """
    names = list(failure.payload)
    here = Failure(OutputTemplate(0, Form.PYTHON), failure.find, {name: i for i, name in enumerate(names, 1)})

    def raise_here(code: Any, *payload: Any) -> None:
        if code:
            found = [np.asarray(v) for v in (code, *payload)]
            exception = raised(here, int(found[0]), found, evaluate).genuine()
            if isinstance(exception, CapacityExceeded):
                raise capacity_outgrown(exception, "a program inside one of JAX's transformations")
            raise exception

    payload = [jax.lax.stop_gradient(values[failure.payload[name]]) for name in names]
    if isinstance(failure.code, int):
        if not payload:
            raise raised(failure, failure.code, values, evaluate)
        jax.debug.callback(raise_here, failure.code, *payload)
        return
    code = values[failure.code.index]
    jax.lax.cond(code != 0, lambda: jax.debug.callback(raise_here, code, *payload), lambda: None)


def capacity_outgrown(end: CapacityExceeded, where: str, started: bool = False) -> StagingError:
    """PS815, for a program in whose place no other can run, as `where` says."""
    capacity = end.capacity
    what, needed, size = capacity.site.what, end.needed, capacity.size
    problem = CapacityOutgrown(span=capacity.site.span, what=what, needed=needed, size=size, where=where)
    error = StagingError((problem,))
    error.started = started
    return error


def is_out_of_memory(error: Exception) -> bool:
    """True where XLA could not allocate what a program needs."""
    return isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)


def _traceback(exception: BaseException, places: Sequence[Span]) -> types.TracebackType | None:
    """A traceback through these spans, outermost first."""
    if not places:
        return None
    *calls, last = places
    code = _statement(last, True)
    scope: dict[str, Any] = {"exception": exception}
    for place in reversed(calls):
        code, scope = _statement(place, False), {"run": exec, "code": code, "scope": scope}
    before = exception.__cause__, exception.__context__, exception.__suppress_context__
    try:
        exec(code, scope)
    except BaseException as found:
        traceback = found.__traceback__
    exception.__cause__, exception.__context__, exception.__suppress_context__ = before
    return traceback.tb_next if traceback is not None else None


@functools.lru_cache(maxsize=256)
def _statement(place: Span, raises: bool) -> types.CodeType:
    """A code object at `place`, under the name of the user's function, that raises or runs another one."""
    at = {
        "lineno": place.line,
        "col_offset": place.column,
        "end_lineno": place.end_line,
        "end_col_offset": place.end_column,
    }

    def name(text: str) -> ast.Name:
        return ast.Name(text, ast.Load(), **at)

    statement: ast.stmt
    if raises:
        statement = ast.Raise(name("exception"), None, **at)
    else:
        statement = ast.Expr(ast.Call(name("run"), [name("code"), name("scope")], [], **at), **at)
    code = compile(ast.Module([statement], []), place.file, "exec")
    return code.replace(co_name=place.function.rpartition(".")[2] or code.co_name, co_qualname=place.function)
