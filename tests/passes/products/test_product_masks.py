"""Operands of products are not masked where nothing demands what is beside the mask."""

from __future__ import annotations

import numpy as np
import pytest

import pystage
from pystage.compiler import ops
from pystage.compiler.hlo.ir import Op
from pystage.compiler.hlo.walk import functions
from pystage.compiler.passes.products.product_masks import unmask_products


def triangle(x):
    """Only a part of the product is stored."""
    n = x.shape[1]
    out = np.eye(n)
    for i in range(n - 1):
        out[i + 1 :, i] = out[i, i + 1 :] = x[:, i] @ x[:, i + 1 :]
    return out


def scaled(x):
    n = x.shape[1]
    out = np.zeros(n)
    for i in range(1, n):
        out[:i] = np.sqrt(np.abs(x[:, i] @ x[:, :i])) * 2.0
    return out


def summed(x):
    """The product sums over the part, whose elements alone count."""
    n = x.shape[0]
    out = np.zeros(n)
    for i in range(1, n):
        out[i] = x[i, :i] @ x[:i, 0]
    return out


def reduced(x):
    """All elements of the masked product are summed."""
    n = x.shape[1]
    out = np.zeros(n)
    for i in range(1, n):
        out[i] = (x[:, i] @ x[:, :i]).sum()
    return out


def masks_of_products(function):
    """The operands of products that are selections; not `select(m, x, stop_gradient(x))`, which are the elements of x."""
    products = [
        op for f in functions(function) for op in f.body.walk() if isinstance(op.kind, ops.DotGeneral)
    ]
    selections = [v.owner for op in products for v in op.operands if isinstance(v.owner, Op)]
    return [
        op
        for op in selections
        if isinstance(op.kind, ops.Select) and not isinstance(op.operands[2].owner.kind, ops.StopGradient)
    ]


X = np.random.default_rng(0).standard_normal((5, 5))


@pytest.mark.parametrize(("program", "left"), [(triangle, 0), (scaled, 0), (summed, 2), (reduced, 0)])
def test_which_masks_are_left(program, left):
    function = pystage.compile(program).staged(X).function
    assert masks_of_products(function)
    assert len(masks_of_products(unmask_products(function))) == left


@pytest.mark.parametrize("program", [triangle, scaled, summed, reduced])
@pytest.mark.parametrize("special", [None, np.inf, np.nan])
def test_what_is_beside_the_mask_does_not_matter(program, special):
    x = X.copy()
    if special is not None:
        x[2, 3] = special
    wanted = program(x.copy())
    np.testing.assert_allclose(pystage.compile(program, fallback="error")(x), wanted, rtol=1e-12)


def first_columns(x):
    out = np.zeros(x.shape[1])
    for i in range(1, 3):
        out[:i] = out[:i] + np.sin(x[:, i] @ x[:, :i])
    return out.sum()


def beside_infinities(x):
    x = x.copy()
    x[:, 3:] = np.inf
    return first_columns(x)


def test_slopes() -> None:
    """What lies beside the part that is multiplied has no slope, and leaves the others as they are."""
    function = pystage.compile(first_columns).staged(X).function
    assert len(masks_of_products(unmask_products(function))) < len(masks_of_products(function))
    found, wanted = pystage.grad(beside_infinities)(X), pystage.grad(first_columns)(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert not found[:, 3:].any()
    assert found[:, :3].any()
