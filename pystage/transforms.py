"""Derivatives: functions of functions, which work on plain callables outside of staged source and inside it.

Called outside, each gives a compiled function, with all that a compiled function has (`lower`, `signatures`). Called
inside staged source, the derivative is a part of the same program. Either way it is a transformation of the
program (`compiler/ad`), so that loops, branches, stores and calls are differentiated as they are written.
"""

from __future__ import annotations

import copy
import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax

from .compiler.diagnostics.traceback import AT_THE_CALL
from .on_demand import LAZILY, explain, infer_program, lazy_gradient
from .runtime.function import BoundFunction, CompiledFunction, Fallback, Lazily
from .staging import chosen_fallback

T = TypeVar("T")
Argnums = int | Sequence[int]


def grad(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> CompiledFunction[..., Any]:
    """The gradient of a function that gives one real number.

    `argnums`: which positional arguments to differentiate by, counted from 0; several give a tuple. The gradient
    has the structure of the argument (arrays, numbers, lists, tuples, dicts, dataclasses, plain objects), with the
    same shapes and dtypes; integers and strings in it pass through. `has_aux`: `fun` gives a pair of the number
    and something else, and so does the gradient function.

        >>> pystage.grad(lambda x, y: x * x * y)(3.0, 2.0)
        12.0
        >>> pystage.grad(lambda x, y: x * x * y, argnums=(0, 1))(3.0, 2.0)
        (12.0, 9.0)

    A `while` whose length depends on data is differentiated without a bound: its pullback recomputes from
    checkpoints, in bounded memory. Raises TypeError for a result that is not one real number, or an argument
    that is no real or complex number; StagingError (PS7xx) for an operation without a derivative.
    """

    def make(several: Any) -> Any:
        def gradient(*args: Any, **kwargs: Any) -> Any:
            return grad(fun, several, has_aux)(*args, **kwargs)

        again = functools.partial(grad, argnums=several, has_aux=has_aux)
        lazily = lazy_gradient(fun, several, has_aux, value=False)
        return _compiled(gradient, "grad", fun, lazily, again)

    return _cached(make, "grad", fun, argnums, has_aux)


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> CompiledFunction[..., Any]:
    """The value of a function that gives one real number, and its gradient, as a pair.

        >>> pystage.value_and_grad(lambda x: x * x)(3.0)
        (9.0, 6.0)

    Arguments, shapes, dtypes and errors are those of `grad`; with `has_aux` the value is the pair that `fun` gives.
    """

    def make(several: Any) -> Any:
        def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
            return value_and_grad(fun, several, has_aux)(*args, **kwargs)

        again = functools.partial(value_and_grad, argnums=several, has_aux=has_aux)
        lazily = lazy_gradient(fun, several, has_aux, value=True)
        return _compiled(value_and_gradient, "value_and_grad", fun, lazily, again)

    return _cached(make, "value_and_grad", fun, argnums, has_aux)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """`fun(*primals)`, and its directional derivative along `tangents`: forward mode.

        >>> pystage.jvp(lambda x, y: x * y, (3.0, 2.0), (1.0, 0.0))
        (6.0, 2.0)

    `tangents` has the structure and the shapes of `primals`, TypeError otherwise; the derivative has the structure,
    shapes and dtypes of the result. StagingError (PS7xx) for an operation without a derivative.
    """

    def make(_: Any) -> Any:
        def directional(primals: Any, tangents: Any) -> Any:
            return jvp(fun, primals, tangents)

        return _compiled(directional, "jvp", fun)

    with AT_THE_CALL:
        result: tuple[Any, Any] = _cached(make, "jvp", fun, None)(tuple(primals), tuple(tangents))
    return result


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """`fun(*primals)`, and the function that gives the cotangents of the primals for one of the result.

        >>> value, pullback = pystage.vjp(lambda x, y: x * y, 3.0, 2.0)
        >>> value, pullback(1.0)
        (6.0, (2.0, 3.0))

    The cotangent has the structure and the shapes of the result (TypeError, ValueError otherwise); those of the
    primals come as a tuple. With `has_aux`, `fun` gives a pair, of which only the first part is differentiated;
    the second is the third that is returned. Inside staged source the pullback uses what the call kept; outside,
    the function runs once more in each pullback, on copies of the primals as they are now.
    """

    def forward(_: Any) -> Any:
        def value(*primals: Any) -> Any:
            return fun(*primals)

        return _compiled(value, "vjp", fun)

    def backward(_: Any) -> Any:
        def pull(primals: Any, cotangent: Any) -> Any:
            return vjp(fun, *primals, has_aux=has_aux)[1](cotangent)

        return _compiled(pull, "pullback", fun)

    kept = copy.deepcopy(primals)
    with AT_THE_CALL:
        result = _cached(forward, "vjp", fun, None)(*primals)
    run = _cached(backward, "pullback", fun, None, has_aux)

    def pullback(cotangent: Any) -> Any:
        with AT_THE_CALL:
            return run(copy.deepcopy(kept), cotangent)

    return (result[0], pullback, result[1]) if has_aux else (result, pullback)


def checkpoint(fun: Callable[..., Any]) -> CompiledFunction[..., Any]:
    """`fun` with a pullback that keeps only the arguments and recomputes the rest.

    Values and gradients are those of `fun`, in structure, shapes and dtypes; the pullback takes the time of one more
    run, and less memory. The errors of a call are those of `fun` and of `pystage.compile`.
    """

    def make(_: Any) -> Any:
        def again(*args: Any, **kwargs: Any) -> Any:
            return checkpoint(fun)(*args, **kwargs)

        return _compiled(again, "checkpoint", fun, again=checkpoint)

    return _cached(make, "checkpoint", fun, None)


def jacobian(fun: Callable[..., Any], argnums: Argnums = 0) -> CompiledFunction[..., Any]:
    """The derivative of an array by an array: the result's axes, then the argument's. Forward mode in a loop.

        >>> pystage.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
        array([[2., 0.],
               [0., 4.]])

    For a result of shape `r` and an argument of shape `a`, arrays of floats: an array of shape `r + a` with the result's
    dtype; several `argnums` give a tuple. StagingError for other arguments (PS606) and for an operation without a
    derivative (PS7xx).
    """

    def make(several: Any) -> Any:
        def derivative(*args: Any, **kwargs: Any) -> Any:
            return jacobian(fun, several)(*args, **kwargs)

        return _compiled(derivative, "jacobian", fun, again=functools.partial(jacobian, argnums=several))

    return _cached(make, "jacobian", fun, argnums)


def hessian(fun: Callable[..., Any], argnums: Argnums = 0) -> CompiledFunction[..., Any]:
    """The second derivative of a function that gives one real number: the argument's axes, twice.

        >>> pystage.hessian(lambda x: x[0] * x[1])(np.array([1.0, 2.0]))
        array([[0., 1.],
               [1., 0.]])

    For an argument of shape `a`: an array of shape `a + a` with its dtype. Errors are those of `grad` and `jacobian`.
    """

    def make(several: Any) -> Any:
        def second_derivative(*args: Any, **kwargs: Any) -> Any:
            return hessian(fun, several)(*args, **kwargs)

        return _compiled(second_derivative, "hessian", fun, again=functools.partial(hessian, argnums=several))

    return _cached(make, "hessian", fun, argnums)


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> CompiledFunction[..., Any]:
    """`fun` vectorised over a batch dimension: computes `fun` for every element of the batch at once.

        >>> def halvings(n):
        ...     count = 0
        ...     while n > 1:
        ...         n = n // 2
        ...         count += 1
        ...     return count
        >>> pystage.vmap(halvings)(np.array([1, 8, 1000]))
        array([0, 3, 9])

    `in_axes` says which axis of each positional argument is the batch dimension: one int for all, or one for each, None
    for an argument that is not batched; in place of an int may stand a structure of ints like the argument's. Keyword
    arguments are mapped by axis 0. `out_axes` says where the batch dimension is in the results. Numbers in the result
    become arrays. ValueError for axes that are not there, or that differ in length (as `jax.vmap`).

    Branches and loops may depend on the element: a loop runs until all elements have left it. If elements raise, the
    exception is that of the first. StagingError for what cannot happen for all elements at once: a store to what `fun`
    did not make (PS703), `print` and draws (PS606).
    """

    def make(axes: Any) -> Any:
        def mapped(*args: Any, **kwargs: Any) -> Any:
            return vmap(fun, axes, out_axes)(*args, **kwargs)

        return _compiled(mapped, "vmap", fun, again=functools.partial(vmap, in_axes=axes, out_axes=out_axes))

    return _cached(make, "vmap", fun, in_axes, out_axes)


class custom_vjp:
    """A function with a derivative of its own for reverse mode, in place of that of its program.

        >>> @pystage.custom_vjp
        ... def log1pexp(x):
        ...     return np.log(1.0 + np.exp(x))
        >>> log1pexp.defvjp(lambda x: (log1pexp(x), x), lambda x, ct: (ct / (1.0 + np.exp(-x)),))
        >>> float(pystage.grad(log1pexp)(0.0))
        0.5

    Called, it is `fun`. Where `grad`, `value_and_grad` or `vjp` goes through it, the forward rule gives the result
    and residuals, and the backward rule the cotangents of the arguments. `nondiff_argnums`: positions of arguments
    that have none, such as functions; the backward rule gets them first. All as in `jax.custom_vjp`.

    StagingError where a derivative goes through it and the rule does not fit (PS704), is asked for forward mode
    (PS705), does not cover what the function closes over (PS706), or cannot stand for what it does (PS707).
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Argnums = ()) -> None:
        self.fun = fun
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.nondiff_argnums = (
            (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        )

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Gives the rule.

        `fwd` takes the arguments of the function, and gives its result and any residuals, as a pair. `bwd` takes the
        arguments in `nondiff_argnums`, the residuals and the cotangent of the result, and gives a tuple with the
        cotangents of the other arguments, each of the argument's structure and shapes; None stands for zeros.
        """
        self.fwd = fwd
        self.bwd = bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function. AttributeError before `defvjp`."""
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {self.__name__} using defvjp.")
        if not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, kwargs))):
            return self.fun(*args, **kwargs)
        traced = jax.custom_vjp(self.fun, nondiff_argnums=self.nondiff_argnums)
        traced.defvjp(self.fwd, self.bwd)
        return traced(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return str(getattr(self.fun, "__name__", type(self.fun).__name__))

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.fun


def stop_gradient(x: T) -> T:
    """A copy of `x`, whatever its structure, through which no derivative goes: a constant to `grad` and `jvp`."""
    return copy.deepcopy(x)


class _Transforms(OrderedDict[Any, CompiledFunction[..., Any]]):
    """The transforms of a function, the latest used last; a copy or a pickle of the function begins without any."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Transforms, ()


_KEPT = 512
"""How many transformed functions are kept, so that the same call in a loop is compiled once."""
_kept = _Transforms()
_ATTRIBUTE = "__pystage_transforms__"
"""Where a function holds those of itself."""
_lock = threading.Lock()


def _cached(
    make: Callable[[Any], CompiledFunction[..., Any]], name: str, fun: Any, where: Any, *options: Any
) -> CompiledFunction[..., Any]:
    """What `make` makes of `where`, once for the same function and options; a list is a tuple to it."""
    where = tuple(where) if isinstance(where, list) else where
    # By identity: objects that are equal may differ, and what is kept keeps its function alive.
    parts = (fun.__self__, fun.__func__) if isinstance(fun, types.MethodType) else (fun,)
    key = (name, *map(id, parts), repr(where), repr(options))
    with _lock:
        # A function has its own, which go with it and with what its closure holds.
        kept = vars(fun).setdefault(_ATTRIBUTE, _Transforms()) if type(fun) is types.FunctionType else _kept
        found = kept.get(key)
        if found is None:
            found = kept[key] = make(where)
        kept.move_to_end(key)
        if len(kept) > _KEPT:
            kept.popitem(last=False)
    return found


def _compiled(
    fn: Callable[..., Any],
    kind: str,
    fun: Callable[..., Any],
    lazily: Lazily | None = None,
    again: Callable[..., Any] | None = None,
) -> CompiledFunction[..., Any]:
    """A transform of `fun`, which has no plain run to fall back on, if anything what `lazily` does.

    `again` makes it of `fun`, in another process too.
    """
    fallback = None if lazily is None else functools.partial(_lazy_or_error, fun)
    return CompiledFunction(
        fn,
        fallback=fallback,
        donate=frozenset(),
        name=f"{kind}_{_name(fun)}",
        infer=infer_program,
        lazily=lazily or LAZILY,
        explain=explain,
        transformed=fun if kind in _SAME_ARGUMENTS else None,
        again=again,
        of=fun,
    )


_SAME_ARGUMENTS = ("grad", "value_and_grad", "jacobian", "hessian", "checkpoint")
"""The transforms that take what the function takes."""


def _lazy_or_error(fun: Callable[..., Any]) -> Fallback:
    """What happens to a derivative that cannot be staged: a compiled function says it for its own."""
    chosen = fun.fallback if isinstance(fun, CompiledFunction | BoundFunction) else chosen_fallback(None)
    return "lazy" if chosen == "lazy" else "error"


def _name(fun: Callable[..., Any]) -> str:
    return str(getattr(fun, "__name__", type(fun).__name__)).strip("<>")
