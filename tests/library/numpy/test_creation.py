"""Creation of arrays, against NumPy and `jax.numpy`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from library.harness import Known, PlainContext, check, check_call
from pystage.compiler.library.numpy.linalg import matrices  # noqa: F401
from pystage.compiler.values.lattice import Const, Ref

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("name", ["zeros", "ones"])
@pytest.mark.parametrize("shape", [3, (2, 3), (), (0, 2), np.int64(2)], ids=str)
def test_filled(name: str, shape: Any) -> None:
    for module in (np, jnp):
        check_call(getattr(module, name), Known(shape))
        for dtype in (int, "float32", np.bool_, np.dtype("complex64"), float):
            check_call(getattr(module, name), Known(shape), dtype=Known(dtype))
            check_call(getattr(module, name), Known(shape), Known(dtype))


def test_shapes() -> None:
    check_call(np.zeros, Known([2, 3]))
    check_call(np.zeros, Known(-1))
    check_call(np.zeros, Known(1.5))
    check_call(np.zeros, Known("ab"))


@pytest.mark.parametrize("value", [2, 2.5, True, 1j, np.float32(2), np.int8(3)], ids=repr)
def test_full(value: Any) -> None:
    for module in (np, jnp):
        check_call(module.full, Known((2, 3)), value)
        check_call(module.full, Known((2, 3)), Known(value))
        if not isinstance(value, complex):
            check_call(module.full, Known(2), value, Known("float32"))
            check_call(module.full, Known(2), value, dtype=Known(int))
        check_call(module.full_like, X.astype(np.float32), value if not isinstance(value, complex) else 1)
        check_call(module.full_like, X, 3, dtype=Known(int), shape=Known((2,)))
    check_call(np.full, Known((2, 3)), np.arange(3))
    check_call(np.full, Known((2, 3)), np.arange(2))
    check_call(np.full, Known((2, 3)), [1, 2, 3.5])


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
@pytest.mark.parametrize("value", [X, X.astype(np.int8), 2.5, np.float32(1), jnp.ones(3), True], ids=repr)
def test_like(name: str, value: Any) -> None:
    for module in (np, jnp):
        check_call(getattr(module, name), value)
        check_call(getattr(module, name), value, dtype=Known("int32"))
        check_call(getattr(module, name), value, shape=Known((2, 2)))
    check_call(getattr(np, name), [[1, 2], [3, 4.0]])


ARANGES: list[Any] = [
    (5,),
    (2, 5),
    (5, 2),
    (0, 10, 3),
    (10, 0, -3),
    (3.0,),
    (0, 1, 0.1),
    (0.5, 3),
    (0,),
    (2000,),
]
ARANGES += [
    (1.0, 3000.0),
    (5, 3000, 2),
    (np.int32(3),),
    (True,),
    (0, 5, 0),
    (np.float32(0), 1, np.float32(0.25)),
]


@pytest.mark.parametrize("bounds", ARANGES, ids=str)
def test_arange(bounds: Any) -> None:
    known = [Known(b) for b in bounds]
    check_call(np.arange, *known)
    check_call(np.arange, *known, dtype=Known("float32"))
    if not any(isinstance(b, np.generic | bool) or b == 0.1 for b in bounds):
        check_call(jnp.arange, *known)
        check_call(jnp.arange, *known, dtype=Known("float32"))


def test_large_ranges_are_not_constants() -> None:
    ctx = check_call(np.arange, Known(1000000), dtype=Known(np.int32))
    assert len(ctx.body.ops) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linspace_is_numpys_bit_for_bit(dtype: str) -> None:
    """XLA must not contract the product and the sum: the edges of histograms hang on it, and integers made of it."""

    def function(a: Any, b: Any) -> Any:
        return np.linspace(a, b, 98)

    staged = pystage.compile(function)
    for ends in np.random.default_rng(0).standard_normal((50, 2)).astype(dtype):
        assert staged(*ends).tobytes() == function(*ends).tobytes()


@pytest.mark.parametrize("num", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("closed", [True, False])
def test_linspace(num: int, closed: bool) -> None:
    for ends in ((Known(0), Known(1)), (0.5, 2.0), (1, 4), (np.float32(0), np.float32(2)), (X[0], X[1])):
        if num == 1 and not closed:
            continue
        check_call(np.linspace, *ends, num=Known(num), endpoint=Known(closed))
    check_call(np.linspace, 1.0, 4.0, Known(num), dtype=Known(int))
    if num > 2:
        check_call(np.linspace, 1.0, 4.0, Known(num), retstep=Known(True))
        check_call(np.linspace, X[0], X[1], Known(num), axis=Known(-1))


OBJECTS: list[Any] = [
    1,
    2.5,
    True,
    np.float32(1),
    X,
    X.astype(np.int16),
    [1, 2, 3],
    [1, 2.5],
    [[1, 2], [3, 4]],
    [np.float32(1), 2],
    [True, 2],
    (1, (2)),
    [(1, 2), [3.0, 4]],
    [X[0], X[1]],
    [[X[0], X[1]], [X[2], X[0]]],
    [X[0], [1, 2, 3, 4]],
    [[1, 2], [3]],
    [X[0], 1],
    [],
    [[], []],
]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda v: str(v).replace("\n", ""))
@pytest.mark.parametrize("known", [True, False])
def test_array(value: Any, known: bool) -> None:
    given = Known(value) if known and isinstance(value, int | float | tuple) else value
    for function in (np.array, np.asarray, jnp.array, jnp.asarray):
        check_call(function, given)
        check_call(function, given, dtype=Known("float32"))
    if not isinstance(value, bool):
        check_call(np.array, given, Known(np.int8))
    check_call(np.array, given, ndmin=Known(3))
    check_call(np.copy, given)


def test_known_numbers_that_do_not_fit() -> None:
    check_call(np.array, Known(300), dtype=Known("uint8"))
    check_call(np.array, Known(1j), dtype=Known(float))


def test_jax_arrays() -> None:
    x = jnp.arange(3)
    for function in (np.array, np.asarray, jnp.array, jnp.asarray, jnp.copy, np.copy):
        check_call(function, x)
    check_call(jnp.array, [x[0], 2.5, np.float16(1)])
    check_call(jnp.array, [jnp.float16(1), 2.5])
    check_call(jnp.array, [x, x])
    check_call(np.array, [x, x])
    check_call(jnp.array, jnp.asarray(2.0))
    check_call(jnp.array, x, dtype=Known(float))


def test_arrays_under_x64() -> None:
    with jax.enable_x64(True):
        check_call(jnp.array, [1, 2])
        check_call(jnp.array, [1.5, 2])
        check_call(jnp.zeros, Known(2))
        check_call(jnp.arange, Known(3))
        check_call(jnp.full, Known(2), 1.5)


def test_asarray_shares_and_array_copies() -> None:
    ctx = PlainContext()
    x = ctx.lift(X)
    for function in (np.asarray, np.ascontiguousarray, np.asanyarray):
        assert ctx.call(Const(function), [x]) is x
    assert ctx.call(Const(np.asarray), [x], {"dtype": Const("float64")}) is x
    copies = [ctx.call(Const(np.array), [x]), ctx.call(Const(np.asarray), [x], {"dtype": Const("float32")})]
    for copied in copies:
        assert isinstance(copied, Ref) and isinstance(x, Ref) and copied.cell != x.cell
    assert ctx.call(Const(np.array), [x], {"copy": Const(None)}) is x
    check(lambda ctx, x: ctx.call(Const(np.asarray), [x], {"copy": Const(False)}), np.asarray, X)
    check(
        lambda ctx, x: ctx.call(Const(np.asarray), [x], {"copy": Const(False)}),
        lambda x: np.asarray(x, copy=False),
        2.5,
    )


@pytest.mark.parametrize("args", [(3,), (2, 3), (3, 2, 1), (3, 3, -1), (40,), (40, 30, -2), (0,)], ids=str)
@pytest.mark.parametrize("name", ["eye", "tri"])
def test_eye_and_tri(args: Any, name: str) -> None:
    for module in (np, jnp):
        check_call(getattr(module, name), *[Known(a) for a in args])
        check_call(getattr(module, name), *[Known(a) for a in args], dtype=Known("int32"))
    check_call(np.identity, Known(args[0]))


@pytest.mark.parametrize("k", [0, 1, -1, 3, -5])
def test_diagonals(k: int) -> None:
    for x in (X, X[0], X.astype(np.int8), X.T):
        for name in ("diag", "tril", "triu"):
            check_call(getattr(np, name), x, k=Known(k))
            if name == "diag" or x.ndim == 2:
                check_call(getattr(jnp, name), jnp.asarray(x, jnp.float32), k=Known(k))
        check_call(np.diagflat, x, k=Known(k))
    cube = np.arange(24.0).reshape(2, 3, 4)
    for function in (np.diagonal, np.trace):
        check_call(function, X, Known(k))
        check_call(function, cube, Known(k), Known(1), Known(2))
        check_call(function, cube, Known(k), Known(2), Known(0))
        check_call(function, X.astype(np.int8), Known(k))
    for twin in (jnp.diagonal, jnp.trace):
        check_call(twin, jnp.asarray(cube, jnp.float32), Known(k))
    check_call(np.tril, cube, k=Known(k))


def test_diagonal_is_a_view() -> None:
    ctx = PlainContext()
    x = ctx.lift(X)
    made = ctx.call(Const(np.diagonal), [x])
    assert isinstance(made, Ref) and isinstance(x, Ref) and made.cell == x.cell


def test_fill_diagonal() -> None:
    for x in (X, X.T.copy(), np.zeros((5, 2)), np.zeros((3, 3, 3)), np.zeros((2, 2), int)):
        check_call(np.fill_diagonal, x, 7.5)
        check_call(np.fill_diagonal, x, Known(1))
    check_call(np.fill_diagonal, np.zeros((3, 3)), np.arange(3.0))
    check_call(np.fill_diagonal, np.zeros(3), 1)
    check_call(np.fill_diagonal, np.zeros((2, 2, 3)), 1)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_meshgrid(indexing: str, sparse: bool) -> None:
    x, y, z = np.arange(3), np.arange(2.0), np.arange(4, dtype=np.float32)
    for arrays in ((x,), (x, y), (x, y, z), (x, 2.5)):
        check_call(np.meshgrid, *arrays, indexing=Known(indexing), sparse=Known(sparse))
    ones = [jnp.arange(3), jnp.arange(2.0)]
    check_call(jnp.meshgrid, *ones, indexing=Known(indexing), sparse=Known(sparse))


def test_known_index_arrays() -> None:
    check_call(np.indices, Known((2, 3)))
    check_call(np.tril_indices, Known(3))
    check_call(np.triu_indices, Known(3), Known(1), Known(4))
    check_call(np.diag_indices, Known(3))
    check_call(np.vander, np.arange(3.0), Known(4))
    check_call(np.vander, np.arange(3), increasing=Known(True))
    check_call(np.vander, np.array([complex(np.inf, -0.0), complex(np.nan, 0.0)]), Known(2))
    check_call(np.logspace, Known(0), Known(2), Known(5))
    check_call(np.geomspace, Known(1), Known(100), Known(3))


def of_the_class(x: Any) -> Any:
    a = np.ndarray((len(x), 3), dtype=np.float32)
    b = np.ndarray(shape=(2, 2), order="F")
    c = np.ndarray(len(x[x > 1]), int)
    a[:], b[:], c[:] = 2, 1.5, 7
    return a, b, c


def over_memory(x: Any) -> Any:
    return np.ndarray(2, buffer=x)


def test_arrays_made_by_the_class() -> None:
    x = np.arange(4.0)
    found = pystage.compile(of_the_class, fallback="error")(x)
    for made, wanted in zip(found, of_the_class(x), strict=True):
        np.testing.assert_array_equal(made, wanted, strict=True)
        assert made.flags.f_contiguous == wanted.flags.f_contiguous
    with pytest.raises(pystage.StagingError, match="PS203"):
        pystage.compile(over_memory, fallback="error")(x)
