"""Lists that a long counted loop appends to: one loop of the program, and arrays of rows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

X = np.linspace(-1, 2, 100)


def sums(x):
    out = []
    s = 0.0
    for v in x:
        s = 0.9 * s + v
        out.append(s)
    return np.array(out)


def pairs(x):
    out = [(0, 0.5)]
    for i in range(len(x)):
        out.append((i, x[i] * i))
    return out, len(out), out[-1], out[3:5]


def comprehension(x):
    return [2 * v for v in x], np.stack([np.array([v, v * v]) for v in x])


def trajectory(x):
    points = [np.zeros(3)]
    p = points[0]
    for v in x:
        p = 0.5 * p + v
        points.append(p)
    p[0] = 7.0  # it is the last of the points
    return np.array(points), points[5], p


def copies(x):
    state = np.zeros(3)
    seen = []
    for v in x:
        state[1] += v
        state *= 0.9
        seen.append(state.copy())
    state[:] = -1
    return np.array(seen), state


def one_object(x):
    state = np.zeros(2)
    seen = []
    for v in x[:70]:
        state += v
        seen.append(state)
    return np.array(seen), seen[0] is seen[1]


def changed_later(x):
    current = np.zeros(2)
    seen = []
    for v in x[:70]:
        previous = current
        current = current + v
        seen.append(current)
        previous[0] = v
    return np.array(seen)


def twice_a_trip(x):
    out = []
    for v in x[:70]:
        a = np.array([v, 1.0])
        out.append(a)
        out.append(a)
    out[0][0] = 99.0
    return np.array(out)


def read_meanwhile(x):
    out = [1.0]
    for v in x[:70]:
        out.append(out[-1] * 0.5 + v)
    return out[-1], np.array(out)


def in_branches(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
        else:
            out.append(-v)
    return np.array(out)


def first_of_another_type(x):
    out = []
    s = 0
    for v in x[:70]:
        out.append(s)
        s = s + v
    return out


def nested(x):
    out = []
    for i in range(80):
        row = []
        for j in range(70):
            row.append(x[j] * i)
        out.append(sum(row[:3]))
    return np.array(out)


def other_name(x):
    out = []
    same = out
    for v in x[:70]:
        out.append(v)
    return len(same), same[3]


def as_shape(x):
    sizes = []
    for i in range(70):
        sizes.append(i)
    return np.zeros(sizes[3])


def with_break(x):
    out = []
    for v in x[:70]:
        if v > 50:
            break
        out.append(v)
    return len(out)


def raising(x):
    out = []
    for v in x:
        if v > 1.9:
            raise ValueError(f"too large: {v}")
        out.append(v)
    return np.array(out)


def handled(x):
    out = []
    try:
        for v in x:
            out.append(1 / int(v * 10))
    except ZeroDivisionError:
        return -1.0
    return out[-1]


def texts(x):
    out = []
    for i in range(70):
        out.append(("name", x[i], None))
    return out[2]


@pytest.mark.parametrize(
    "function",
    [
        sums,
        pairs,
        comprehension,
        trajectory,
        copies,
        one_object,
        changed_later,
        twice_a_trip,
        read_meanwhile,
        in_branches,
        first_of_another_type,
        nested,
        other_name,
        as_shape,
        texts,
    ],
)
def test_as_in_python(function) -> None:
    check(function, X)


def test_exception() -> None:
    check(raising, X, raises=ValueError)
    check(raising, X[:80])


def test_refused_or_as_in_python() -> None:
    for function in (with_break, handled):
        try:
            assert pystage.compile(function)(X) == function(X)
        except pystage.StagingError as error:
            assert error.diagnostics[0].code.startswith("PS")


def test_arrays_of_jax() -> None:
    def powers(x):
        out = []
        for _ in range(90):
            x = x * 0.9
            out.append(x)
        return jnp.stack(out)

    np.testing.assert_array_equal(pystage.compile(powers)(jnp.ones(3)), powers(jnp.ones(3)))


def test_the_program_does_not_grow_with_the_trips() -> None:
    def size(function, n: int) -> int:
        return pystage.compile(function).lower(np.ones(n)).instruction_counts().total

    for function in (sums, trajectory, copies, in_branches):
        assert size(function, 1000) == size(function, 100) < 100


def test_gradient() -> None:
    def loss(x):
        return np.sum(sums(x) ** 2)

    h = 1e-6
    direction = np.cos(np.arange(100.0))
    expected = (loss(X + h * direction) - loss(X - h * direction)) / (2 * h)
    np.testing.assert_allclose(np.sum(pystage.grad(loss)(X) * direction), expected, rtol=1e-6)


def demanded(x, n):
    out = [x[0]]
    for _ in range(n - 1):
        out.append(out[-1] * 2 + x[1])
    return np.array(out)


def test_trips_are_demanded() -> None:
    check(demanded, X, 5)
    compiled = pystage.compile(demanded)
    compiled(X, 3)
    compiled(X + 1, 3)
    compiled(X, 4)
    assert [s.count("length of a list") for s in compiled.signatures()] == [1, 1]
