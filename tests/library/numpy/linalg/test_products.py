"""Products of arrays against NumPy and `jax.numpy`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, check, check_call
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.linalg import einsum, norms, products  # noqa: F401
from pystage.compiler.library.numpy.subscripts.subscripts import array_setitem
from pystage.compiler.ops import DotGeneral
from pystage.compiler.values.lattice import Abstract, Const

RNG = np.random.default_rng(0)


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Small numbers."""
    if dtype.startswith("complex"):
        return (RNG.integers(-3, 4, shape) + 1j * RNG.integers(-3, 4, shape)).astype(dtype)
    low = 0 if dtype.startswith("u") or dtype == "bool" else -3
    return RNG.integers(low, 4, shape).astype(dtype)


DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", ["int8", "float32", "complex64", "bool", "int64"])
@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "outer", "tensordot", "vdot", "kron"])
def test_types(name: str, left: str, right: str) -> None:
    x, y = sample(left, (3, 3)), sample(right, (3, 3))
    if name == "outer":
        x, y = x[0], y[0]
    args = [Known(1)] if name == "tensordot" else []
    check_call(getattr(np, name), x, y, *args)
    if right != "bool" and left != "bool":
        check_call(getattr(jnp, name), jnp.asarray(x), jnp.asarray(y), *args)


MATMULS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (6, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((1, 2, 3), (1, 3, 4)),
    ((7, 1, 2, 3), (1, 6, 3, 4)),
    ((2, 0), (0, 3)),
    ((2, 3), (4, 5)),
    ((3,), (4,)),
    ((), (3,)),
    ((2, 2, 3), (3, 3, 4)),
]


@pytest.mark.parametrize("shapes", MATMULS, ids=str)
def test_matmul(shapes: Any) -> None:
    x, y = [RNG.standard_normal(s) for s in shapes]
    if isinstance(x, float):
        x = np.asarray(x)
    check_call(np.matmul, x, y)
    check_call(jnp.matmul, jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))
    check_call(np.matmul, x.astype(np.int32), y)


def test_matmul_is_one_operation() -> None:
    for shapes in ([(2, 3), (3, 4)], [(5, 2, 3), (3, 4)], [(5, 2, 3), (5, 3, 4)]):
        x, y = [RNG.standard_normal(s) for s in shapes]
        ctx = check_call(np.matmul, x, y)
        assert [type(op.kind) for op in ctx.body.ops] == [DotGeneral]


def test_matmul_products() -> None:
    products.numpy_matmul(ctx := PlainContext(), ctx.lift(np.ones((2, 3))), ctx.lift(np.ones(3)))
    assert len(ctx.body.ops) == 1
    check_call(np.matmul, np.ones((2, 3)), [1, 2, 3])
    check_call(np.matmul, np.ones((2, 3)), np.ones((3, 4)), out=np.zeros((2, 4)))
    check_call(jnp.matmul, jnp.ones((2, 3)), np.ones(3))
    check_call(jnp.matmul, jnp.ones((2, 3)), jnp.ones(3), precision=Known("highest"))
    x = jnp.ones((2, 3), jnp.bfloat16)
    check_call(jnp.matmul, x, x.T, preferred_element_type=Known(jnp.float32))
    with jax.default_matmul_precision("highest"):
        ctx = check_call(jnp.matmul, jnp.ones((2, 3)), jnp.ones(3))
        assert ctx.body.ops[-1].kind.precision == "HIGHEST"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((2, 5, 3), (4, 3, 6)),
        ((3,), (4, 3, 6)),
        ((), (3,)),
        ((2,), ()),
        ((), ()),
        ((2,), (3,)),
    ],
    ids=str,
)
def test_dot(shapes: Any) -> None:
    x, y = [np.asarray(RNG.standard_normal(s)) for s in shapes]
    check_call(np.dot, x, y)
    check_call(jnp.dot, jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))
    z = np.swapaxes(y, -1, -2) if y.ndim > 1 else y
    check_call(np.inner, x, z)
    check_call(jnp.inner, jnp.asarray(x, jnp.float32), jnp.asarray(z, jnp.float32))
    check_call(np.outer, x, y)
    check_call(np.kron, x, y)


def test_vdot() -> None:
    x, y = sample("complex64", (2, 3)), sample("complex64", (2, 3))
    check_call(np.vdot, x, y)
    check_call(np.vdot, x, y.real.copy())
    check_call(jnp.vdot, jnp.asarray(x), jnp.asarray(y))
    check_call(np.vdot, x, y[0])


@pytest.mark.parametrize(
    "axes", [0, 1, 2, (1, 0), ((0, 1), (0, 1)), ((1,), (0,)), ((0, -1), (1, 0)), 4, ((0,), (0, 1))], ids=str
)
def test_tensordot(axes: Any) -> None:
    x, y = RNG.standard_normal((3, 3, 3)), RNG.standard_normal((3, 3))
    check_call(np.tensordot, x, y, axes=Known(axes))
    check_call(jnp.tensordot, jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32), axes=Known(axes))


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("i,i", (3,), (3,)),
    ("i,j->ij", (3,), (4,)),
    ("i,i->i", (3,), (3,)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("ba", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...ij,...jk", (5, 2, 3), (5, 3, 4)),
    ("i...->...", (2, 3, 4)),
    ("...", (2, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("i,j,k->ijk", (2,), (3,), (4,)),
    ("ij,ij,ij->j", (2, 3), (2, 3), (2, 3)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ij,kj->ik", (2, 1), (3, 4)),
    ("ij,ij->i", (0, 3), (1, 3)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,k->i", (2, 3), (4,)),
    ("ij,jk->im", (2, 3), (3, 4)),
    ("ij,jk->ik", (2, 3), (4, 4)),
    ("ij,jk->ik", (2, 3, 4), (4, 4)),
    ("ij,jk->ik", (2, 3)),
    ("i1->i", (2, 3)),
]


@pytest.mark.parametrize("case", EINSUMS, ids=str)
def test_einsum(case: Any) -> None:
    text, *shapes = case
    arrays = [RNG.standard_normal(s) for s in shapes]
    check_call(np.einsum, Known(text), *arrays)
    check_call(jnp.einsum, Known(text), *[jnp.asarray(a, jnp.float32) for a in arrays])


@pytest.mark.parametrize(
    "text,shape",
    [
        ("ii->i", (3, 3)),
        ("ij->ji", (2, 3)),
        ("ij", (2, 3)),
        ("iji->ji", (3, 2, 3)),
        ("iii->i", (2, 2, 2)),
        ("ii...->...i", (3, 3, 2)),
    ],
)
def test_einsum_of_one_operand_is_a_view(text: str, shape: tuple[int, ...]) -> None:
    def staged(ctx: Context, x: Abstract) -> Abstract:
        array_setitem(ctx, ctx.call(Const(np.einsum), [Const(text), x]), Const(0), Const(9.0))
        return x

    def plain(x: np.ndarray) -> np.ndarray:
        np.einsum(text, x)[0] = 9.0
        return x

    check(staged, plain, RNG.standard_normal(shape))


def test_einsum_spelled_as_lists() -> None:
    x, y = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))
    check_call(np.einsum, x, Known([0, 1]), y, Known([1, 2]), Known([0, 2]))
    check_call(np.einsum, x, Known([0, 1]), y, Known([1, 2]))
    check_call(np.einsum, x, Known([Ellipsis, 1]), Known([Ellipsis]))
    check_call(np.einsum, x, Known([0, 99]))
    check_call(jnp.einsum, jnp.asarray(x), Known((0, 1)), jnp.asarray(y), Known((1, 2)), Known((0, 2)))
    check_call(np.einsum, Known("ij,jk->ik"), x, y, out=np.zeros((2, 4)))


def test_einsum_of_types() -> None:
    x, y = sample("int8", (2, 3)), sample("float32", (3, 4))
    check_call(np.einsum, Known("ij,jk->ik"), x, y)
    check_call(np.einsum, Known("ij,jk->ik"), x, y, optimize=Known(True))
    check_call(np.einsum, Known("ij,kj->ik"), x, x)
    check_call(np.einsum, Known("ij,jk->ik"), x, y, dtype=Known(np.float64))
    check_call(jnp.einsum, Known("ij,kj->ik"), jnp.asarray(x), jnp.asarray(x))


@pytest.mark.parametrize("order", [None, 1, 2, 3, 0.5, 0, np.inf, -np.inf, -1])
def test_vector_norms(order: Any) -> None:
    for dtype in ("int32", "float32", "float64", "complex64"):
        x = sample(dtype, (3, 4)) + np.asarray(1, dtype)
        if order in (-1, 0.5):
            x = abs(x) + np.asarray(1, x.dtype)
        check_call(np.linalg.norm, x, ord=Known(order), axis=Known(1))
        check_call(np.linalg.norm, x[0], ord=Known(order))
        check_call(jnp.linalg.norm, jnp.asarray(x), ord=Known(order), axis=Known(0), keepdims=Known(True))


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
def test_matrix_norms(order: Any) -> None:
    x = RNG.standard_normal((3, 4, 5))
    check_call(np.linalg.norm, x[0], Known(order))
    check_call(np.linalg.norm, x, Known(order), axis=Known((0, 2)))
    check_call(np.linalg.norm, x, Known(order), axis=Known((2, 0)), keepdims=Known(True))
    check_call(np.linalg.norm, x)
    check_call(jnp.linalg.norm, jnp.asarray(x[0], jnp.float32), Known(order))


def test_norms_by_singular_values() -> None:
    check_call(np.linalg.norm, np.ones((2, 2, 2)), Known(1))
    x = jnp.asarray(RNG.standard_normal((3, 3)), jnp.float32)
    for order in (2, -2, "nuc"):
        check_call(jnp.linalg.norm, x, Known(order))
        check_call(np.linalg.norm, RNG.standard_normal((3, 3)), Known(order))


def test_cross_and_chains() -> None:
    x, y = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))
    check_call(np.cross, x, y)
    check_call(np.cross, x[0], y)
    check_call(np.cross, x[:2], y)
    check_call(np.cross, x.T, y, axisa=Known(0), axisc=Known(0))
    check_call(np.cross, x.T, y.T, axis=Known(0))
    check_call(np.linalg.multi_dot, [x, y.T, x])
