"""Rearranging arrays: values, and what is a view of what, against NumPy and `jax.numpy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, check, check_call
from pystage.compiler.library.numpy import concatenation, manipulation  # noqa: F401
from pystage.compiler.library.numpy.subscripts.subscripts import array_setitem
from pystage.compiler.values.lattice import Abstract, Const, Ref

A = np.arange(24.0).reshape(2, 3, 4)
B = np.arange(12, dtype=np.int32).reshape(3, 4)
V = np.arange(4.0)
AT_LEAST = ["atleast_1d", "atleast_2d", "atleast_3d"]


def both(name: str, x: Any, *args: Any, **kwargs: Any) -> None:
    """The NumPy function, and its twin on a `jax.Array`."""
    check_call(getattr(np, name), x, *args, **kwargs)
    check_call(getattr(jnp, name), jnp.asarray(x, jnp.float32), *args, **kwargs)


@pytest.mark.parametrize(
    "shape",
    [24, (4, 6), (-1,), (2, -1), (3, -1, 2), (2, 3, 4), (1, 24, 1), (5, 5), (-1, -1), (-1, 7)],
    ids=str,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape(shape: Any, order: str) -> None:
    both("reshape", A, Known(shape), order=Known(order))


def test_reshape_of_numbers_and_lists() -> None:
    check_call(np.reshape, 3.0, Known((1, 1)))
    check_call(np.reshape, [1, 2, 3, 4.0], Known((2, 2)))
    check_call(np.reshape, np.zeros((0, 3)), Known((3, -1)))
    check_call(np.reshape, jnp.arange(4), Known((2, 2)))
    check_call(jnp.reshape, 3.0, Known((1, 1)))


@pytest.mark.parametrize("x", [A, B, V, np.zeros((0, 2)), np.ones((1, 3, 1))], ids=lambda x: str(x.shape))
@pytest.mark.parametrize(
    "name", ["ravel", "transpose", "squeeze", "flip", "flipud", "atleast_1d", "atleast_2d", "atleast_3d"]
)
def test_without_arguments(name: str, x: np.ndarray) -> None:
    both(name, x)


@pytest.mark.parametrize("name", ["ravel", "atleast_1d", "atleast_2d", "atleast_3d", "squeeze", "transpose"])
def test_of_numbers(name: str) -> None:
    check_call(getattr(np, name), 2.5)
    check_call(getattr(jnp, name), 2.5)
    check_call(getattr(np, name), [1, 2, 3])


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("transpose", ((1, 0, 2),)),
        ("transpose", ((-1, 0, 1),)),
        ("transpose", ((1, 0),)),
        ("transpose", ((0, 0, 1),)),
        ("swapaxes", (0, 2)),
        ("swapaxes", (-1, 1)),
        ("swapaxes", (0, 3)),
        ("moveaxis", (0, -1)),
        ("moveaxis", ((0, 1), (-1, 0))),
        ("moveaxis", ((0, 1), 1)),
        ("expand_dims", (0,)),
        ("expand_dims", (-1,)),
        ("expand_dims", ((0, 2),)),
        ("expand_dims", (5,)),
        ("flip", (1,)),
        ("flip", ((0, 2),)),
        ("rot90", ()),
        ("rot90", (2,)),
        ("rot90", (3, (1, 2))),
        ("rot90", (-1, (0, 2))),
        ("rot90", (4,)),
        ("squeeze", (1,)),
        ("fliplr", ()),
        ("matrix_transpose", ()),
    ],
    ids=str,
)
def test_with_arguments(name: str, args: tuple[Any, ...]) -> None:
    both(name, A, *[Known(a) for a in args])


def test_squeeze_named_axes() -> None:
    both("squeeze", np.ones((1, 3, 1)), Known(0))
    both("squeeze", np.ones((1, 3, 1)), Known((0, -1)))


# ---------------------------------------------------------------- views


def stored(step: Callable[[Any, Any], Any]) -> None:
    """A store through the result of `step` changes the base exactly where it does in NumPy."""

    def call(np_like: Any, x: Any) -> Any:
        return step(np_like, x)

    class Staged:
        """`np`, whose functions are the library's meanings."""

        def __init__(self, ctx: PlainContext) -> None:
            self.ctx = ctx

        def __getattr__(self, name: str) -> Callable[..., Abstract]:
            def called(*args: Any, **kwargs: Any) -> Abstract:
                lifted = [a if isinstance(a, Abstract) else Const(a) for a in args]
                return self.ctx.call(
                    Const(getattr(np, name)), lifted, {k: Const(v) for k, v in kwargs.items()}
                )

            return called

    def staged(ctx: PlainContext, x: Abstract) -> Abstract:
        view = call(Staged(ctx), x)
        array_setitem(ctx, view, Const(0), Const(100.0))
        return view  # type: ignore[no-any-return]

    def plain(x: Any) -> Any:
        view = call(np, x)
        view[0] = 100.0
        return view

    check(staged, plain, A)


STEPS: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.reshape(x, (4, 6)),
    lambda m, x: m.ravel(x),
    lambda m, x: m.transpose(x),
    lambda m, x: m.reshape(m.transpose(x), (4, 6)),
    lambda m, x: m.ravel(m.transpose(x)),
    lambda m, x: m.reshape(m.transpose(x), (4, 3, 1, 2)),
    lambda m, x: m.reshape(m.swapaxes(x, 0, 1), (3, 2, 2, 2)),
    lambda m, x: m.reshape(x, (6, 4), order="F"),
    lambda m, x: m.ravel(m.transpose(x), order="F"),
    lambda m, x: m.flip(x, 1),
    lambda m, x: m.ravel(m.flip(x)),
    lambda m, x: m.expand_dims(m.moveaxis(x, 0, -1), 0),
    lambda m, x: m.rot90(x),
    lambda m, x: m.split(x, 2)[0] if m is np else m.squeeze(m.reshape(x, (1, 24))),
    lambda m, x: m.atleast_3d(x),
    lambda m, x: m.reshape(m.reshape(x, (4, 6)), (24,)),
]


@pytest.mark.parametrize("step", [*STEPS[:13], *STEPS[14:]])
def test_stores_through_rearranged_arrays(step: Callable[[Any, Any], Any]) -> None:
    stored(step)


def test_pieces_are_views() -> None:
    ctx = PlainContext()
    x = ctx.lift(A)
    made = ctx.call(Const(np.split), [x, Const(2)])
    assert isinstance(made, Ref) and isinstance(x, Ref)
    assert [p.cell for p in ctx.state.get(made.cell).items] == [x.cell] * 2


def test_stores_into_broadcast_arrays_are_refused() -> None:
    def staged(ctx: PlainContext, x: Abstract) -> Abstract:
        wide = ctx.call(Const(np.broadcast_to), [x, Const((2, 4))])
        array_setitem(ctx, wide, Const(0), Const(1.0))
        return wide

    def plain(x: Any) -> None:
        np.broadcast_to(x, (2, 4))[0] = 1.0

    check(staged, plain, V)


# ---------------------------------------------------------------- joining


JOINS = [
    ([B, B],),
    ([B, B.astype(np.float32)],),
    ([A[0], B],),
    ([V, V[:2]],),
    ([V],),
    ([B, V],),
    ([1, 2.5],),
    ([[1, 2], V],),
    (A,),
    ([np.zeros((0, 4)), A[0]],),
    ([],),
]


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"])
@pytest.mark.parametrize("arrays", JOINS, ids=lambda a: str(a).replace("\n", ""))
def test_joins(name: str, arrays: tuple[Any]) -> None:
    (given,) = arrays
    check_call(getattr(np, name), given)
    if isinstance(given, list) and all(isinstance(g, np.ndarray) for g in given):
        check_call(
            getattr(jnp, name),
            [jnp.asarray(g, jnp.int8 if g.dtype.kind == "i" else jnp.float32) for g in given],
        )


@pytest.mark.parametrize("axis", [0, 1, -1, 2, None, 3])
def test_joins_along_axes(axis: Any) -> None:
    check_call(np.concatenate, [A, A[:, :, :]], axis=Known(axis))
    check_call(np.concatenate, (A, A), Known(axis))
    if axis is not None:
        check_call(np.stack, [A, A], axis=Known(axis))
        check_call(jnp.stack, [jnp.asarray(A), jnp.asarray(A)], axis=Known(axis))
    check_call(jnp.concatenate, [jnp.asarray(A), jnp.asarray(A)], axis=Known(axis))
    check_call(np.concatenate, [B, B], dtype=Known("float32"))
    check_call(np.concatenate, [B, B], out=np.zeros((6, 4)))


def test_append() -> None:
    check_call(np.append, B, 7.5)
    check_call(np.append, B, [[1, 2, 3, 4]], axis=Known(0))
    check_call(np.append, B, V, axis=Known(0))
    check_call(jnp.append, jnp.arange(3), 2)


@pytest.mark.parametrize("sections", [1, 2, 3, 4, (1, 3), (2, 2), (3, 1), (-1,), (0, 9), 0], ids=str)
def test_splits(sections: Any) -> None:
    x = np.arange(24.0).reshape(4, 6)
    for name in ("split", "array_split"):
        for axis in (0, 1):
            both(name, x, Known(sections), axis=Known(axis))
    for name in ("vsplit", "hsplit"):
        both(name, x, Known(sections))
    both("hsplit", V, Known(sections))
    both("dsplit", A, Known(sections))


@pytest.mark.parametrize("reps", [1, 3, (2, 2), (2, 1, 3), (1, 1, 1, 2), 0], ids=str)
def test_tile(reps: Any) -> None:
    both("tile", B, Known(reps))
    check_call(np.tile, 2.5, Known(reps))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat(axis: Any) -> None:
    both("repeat", B, Known(3), axis=Known(axis))
    both("repeat", B, Known(0), axis=Known(axis))
    if axis is not None:
        counts = (2, 0, 1) if axis == 0 else (1, 2, 0, 3)
        check_call(np.repeat, B, Known(counts), axis=Known(axis))
        check_call(np.repeat, B, Known((1, 2)), axis=Known(axis))
    check_call(np.repeat, B, Known(-1))
    check_call(np.repeat, 2.5, Known(3))


@pytest.mark.parametrize("shift", [0, 1, -1, 5, -13, 100])
def test_roll(shift: int) -> None:
    for axis in (None, 0, 1, -1):
        both("roll", B, Known(shift), axis=Known(axis))
        both("roll", B, shift, axis=Known(axis))
    both("roll", B, Known((shift, 1)), axis=Known((0, 1)))
    check_call(np.roll, B, Known((1, 2)), axis=Known(0))
    check_call(np.roll, B, Known(1), axis=Known((0, 1)))


# ---------------------------------------------------------------- broadcasting, shapes, copyto


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (4, 4), (3,), ()], ids=str)
def test_broadcast_to(shape: Any) -> None:
    both("broadcast_to", V, Known(shape))
    check_call(np.broadcast_to, 2.5, Known(shape))


def test_broadcast_arrays() -> None:
    check_call(np.broadcast_arrays, B, V)
    check_call(np.broadcast_arrays, B, 2.5)
    check_call(np.broadcast_arrays, B, np.ones(3))
    check_call(jnp.broadcast_arrays, jnp.asarray(B), jnp.ones(4))


@pytest.mark.parametrize("x", [A, V, 2.5, 3, np.float32(1), jnp.ones((2, 3)), [[1, 2], [3, 4]]], ids=str)
def test_shapes(x: Any) -> None:
    for name in ("shape", "ndim", "size"):
        check_call(getattr(np, name), x)
        ctx = PlainContext()
        assert isinstance(ctx.call(Const(getattr(np, name)), [ctx.lift(x)]), Const) or name == "shape"
    check_call(np.size, A, Known(1))


def test_copyto() -> None:
    check_call(np.copyto, A, 2.5)
    check_call(np.copyto, A, B)
    check_call(np.copyto, A, np.arange(3.0))
    check_call(np.copyto, B, A[0])
    check_call(np.copyto, B, A[0], casting=Known("unsafe"))
    check_call(np.copyto, A, V, where=A > 5)
    check_call(np.copyto, B, Known(2.5))
