"""Gradients of programs that catch what they raise: what ran after the raise sends nothing back, no NaN either."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pystage

X = np.array([1.5, 0.8, -0.6, 2.0])
D = np.array([2.0, 1.0, 0.0, 4.0])


def divided(x, d):
    try:
        y = float(x[0]) / float(d[2])
        z = y * x[1]
    except ZeroDivisionError:
        z = x[0] * x[0]
    return z


def stored(x, d):
    a = np.zeros(3)
    try:
        a[0] = x[0]
        a[1] = float(x[1]) / float(d[2])
        a[2] = x[2]
    except ZeroDivisionError:
        a[2] = 3.0 * x[3]
    return np.sum(a * a)


def in_a_loop(x, d):
    total = 1.0
    try:
        for i in range(4):
            total = total * float(x[i]) + float(x[i]) / float(d[i])
    except ZeroDivisionError:
        pass
    return total


def until(x, d):
    total, i = 1.0, 0
    try:
        while total < 1000.0:
            total = total * float(x[i % 4]) + float(x[i % 4]) / float(d[i % 4])
            i += 1
    except ZeroDivisionError:
        total *= float(x[0])
    return total


def ratio(a, b):
    whole = math.exp(900.0 * a) if b > 5 else a
    return whole / b


def by_callee(x, d):
    try:
        z = ratio(float(x[0]), float(d[2])) * float(x[1])
        z = 1.0 / (z + np.sum(x / d))
    except ZeroDivisionError:
        z = float(x[3]) ** 3
    return z


def overflown(x, d):
    try:
        y = math.exp(1000.0 * x[0])
        z = y * x[1]
    except OverflowError:
        z = x[0] * x[1]
    return z


def of_matrices(x, d):
    try:
        a = np.outer(x, x) * (1.0 / float(d[2]))
        z = np.sum((a @ x) ** 2)
    except ZeroDivisionError:
        z = np.sum(x**3)
    return z


def inner_handler(x, d):
    total = 0.0
    for i in range(4):
        try:
            total += float(x[i]) / float(d[i])
        except ZeroDivisionError:
            total *= float(x[i])
    return total


checked = pystage.checkpoint(lambda a, b: a * a / b)


def recomputed(x, d):
    try:
        z = checked(float(x[0]), float(d[2])) * float(x[1])
    except ZeroDivisionError:
        z = float(x[2]) ** 2
    return z


doubled = pystage.custom_vjp(lambda a, b: a / b)
doubled.defvjp(lambda a, b: (a / b, (a, b)), lambda kept, ct: (ct / kept[1], -ct * kept[0] / kept[1] ** 2))


def with_a_rule(x, d):
    try:
        z = math.log(float(d[2])) * float(x[1]) + doubled(float(x[0]), float(d[1]))
    except ValueError:
        z = float(x[2]) ** 2 * doubled(float(x[0]), float(d[1]))
    return z


PROGRAMS = [
    divided, stored, in_a_loop, until, by_callee, overflown, of_matrices, inner_handler, recomputed, with_a_rule,
]  # fmt: skip


def by_differences(function, x, step=1e-6):
    return np.array([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_what_was_caught_sends_nothing_back(function) -> None:
    expected = by_differences(lambda x: function(x, D), X)
    assert np.any(expected != 0)
    found = pystage.grad(function)(X, D)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [stored, in_a_loop, by_callee], ids=lambda f: f.__name__)
def test_second_order(function) -> None:
    slope = pystage.grad(function)
    expected = np.array([(slope(X + h, D) - slope(X - h, D)) / 2e-6 for h in 1e-6 * np.eye(4)])
    np.testing.assert_allclose(pystage.hessian(function)(X, D), expected, rtol=1e-5, atol=1e-6)
    twice = pystage.grad(lambda x, d: np.sum(slope(x, d) * np.arange(4.0)))(X, D)
    np.testing.assert_allclose(twice, expected @ np.arange(4.0), rtol=1e-5, atol=1e-6)


def rooted(v):
    if v > 0.0:
        w = np.sqrt(v) * np.log(v)
    else:
        w = v * v
    while w < 0.0:
        w = 1.0 / (w * (w + 1.0)) + 2.0
    return w


def test_elements_in_other_branches() -> None:
    lanes = np.array([0.0, 4.0, -1.0, 0.0, 0.9])
    found = pystage.grad(lambda x: np.sum(pystage.vmap(rooted)(x)))(lanes)
    np.testing.assert_allclose(found, [pystage.grad(rooted)(float(v)) for v in lanes])


def test_mapped() -> None:
    xs = np.stack([X, 2 * X])
    found = pystage.grad(lambda xs: np.sum(pystage.vmap(lambda x: divided(x, D))(xs)))(xs)
    np.testing.assert_allclose(found[:, 0], 2 * xs[:, 0])
    np.testing.assert_array_equal(found[:, 1:], 0)
