"""Numbers leave a program as the elements of a few arrays, and nobody sees that."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops import Concatenate, Slice
from pystage.compiler.passes.boundary_vectors import with_vectors
from pystage.compiler.values.boundary import Form
from pystage.runtime.results.packing import packing_of
from tests.checking import check

N = 40


class Point(NamedTuple):
    x: float
    n: int


class Box:
    def __init__(self, x: float) -> None:
        self.x, self.y, self.n = x, x * 2.0, 1


def in_containers(x, n):
    numbers = [x * 2.0, n + 1, x * 3.0, n > 2, x > 0.5, x * 1j]
    return numbers, (x + 1.0, n * 2), {"a": x - 1.0, "b": [n - 1, n - 2]}, Point(x / 2.0, n // 2), [], 5


def of_numpy(x):
    return x.sum(), [x.max(), x.min(), x.argmax()], (x.mean() > 0.0, np.bool_(x.max() > 1.0)), float(x.sum())


def in_narrow_types(x):
    return [np.float32(v) * np.float32(2.0) for v in x], [np.int8(x[0]), np.int8(x[1])], x[0] > 0.0


def one_as_both(x):
    total = x.sum()
    return total, float(total), x.max(), [float(total), float(x.max())], total


def twice(x):
    y = x * 2.0
    return y, y, [y, x + 1.0, y]


def beside_arrays(x, a):
    return x * 2.0, a * x, x + 1.0, jnp.sin(a), a.sum(), [x - 1.0, np.zeros(2) + x]


def of_weak_arrays(x, a):
    return x * 2.0, jnp.sin(x), x + 1.0, a * 2, jnp.sum(a)


def by_path(x, n):
    found = [x, n] if n > 2 else (x * 2.0, n + 1, x + 1.0)
    number = n if x > 1.0 else x
    return found, number, x * 3.0, n * 3, [number]


def changed(box, numbers, table, x):
    box.x, box.y, box.n = x * 2.0, x + 1.0, box.n + 1
    for i in range(len(numbers)):
        numbers[i] = numbers[i] * 2 + i
    table["a"], table["b"] = x - 1.0, x - 2.0
    return x / 2.0, x / 3.0


def changed_and_raised(box, numbers, x):
    box.x, box.y = x * 2.0, x + 1.0
    for i in range(len(numbers)):
        numbers[i] = numbers[i] + 1
        if numbers[i] > 3:
            raise ValueError(f"{numbers[i]} after {x * 2.0}")
    box.n = 7
    return x, box.n


def printing(x, n):
    print(x * 2.0, n)
    return x * 2.0, x * 3.0, n + 1, n + 2


def written_out(values):
    table, last = {}, 0.0
    for i, x in enumerate(values):
        last = last * 0.5 + x * (i % 3) + table.get(f"k{i - 2}", 0.0)
        table[f"k{i}"] = last
    return table


def picked(values):
    first, second, *others = values
    return [second, first], others, [*others[:3], first]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (in_containers, (1.5, 3)),
        (in_containers, (float("nan"), -3)),
        (of_numpy, (np.array([1.5, -2.0, 0.0]),)),
        (of_numpy, (np.array([3, 1, 2], np.int16),)),
        (in_narrow_types, ([1.5, 2.5, -0.0],)),
        (one_as_both, (np.array([1.5, 2.5]),)),
        (twice, (1.5,)),
        (beside_arrays, (1.5, np.arange(3.0))),
        (beside_arrays, (1.5, jnp.arange(3.0))),
        (of_weak_arrays, (1.5, jnp.arange(3))),
        (by_path, (1.5, 3)),
        (by_path, (0.5, 1)),
        (changed, (Box(1.0), [1, 2, 3], {"a": 0.0, "b": 1.0}, 2.0)),
        (printing, (1.5, 2)),
        (written_out, ([float(i) for i in range(N)],)),
        (picked, (tuple([float(i) for i in range(N)]),)),
    ],
)
def test_the_plain_and_the_staged_run_agree(function: Any, args: tuple[Any, ...]) -> None:
    check(function, *args, zeros=True)


def test_a_program_that_raises_has_changed_what_the_plain_run_has() -> None:
    check(changed_and_raised, Box(1.0), [1, 2, 3, 4], 2.0, raises=ValueError)
    check(changed_and_raised, Box(1.0), [1, 2], 2.0)


def test_the_numbers_of_a_type_are_one_result() -> None:
    lowered = pystage.compile(written_out, tier="compiled").lower([float(i) for i in range(N)])
    assert len(lowered.staged.function.result_types) > N / 2
    given = jax.tree.leaves(lowered.bind().out_info)
    assert [(each.shape, each.dtype) for each in given] == [((N,), np.float64)]


def test_a_program_compiled_ahead_of_time_gives_numbers() -> None:
    values = [float(i) for i in range(N)]
    compiled = pystage.compile(written_out).lower(values).compile()
    assert compiled(values) == written_out(values)


def test_jax_transforms_a_function_of_several_numbers() -> None:
    compiled = pystage.compile(lambda x: (x * 2.0, x * x, [x + 1.0]))
    doubled, squared, (more,) = jax.vmap(compiled)(jnp.arange(3.0))
    assert [doubled.tolist(), squared.tolist(), more.tolist()] == [[0, 2, 4], [0, 1, 4], [1, 2, 3]]
    assert jax.grad(lambda x: compiled(x)[1])(3.0) == 6.0


def test_the_packing_of_results() -> None:
    staged = pystage.compile(
        lambda a, x, n: (x + 1.0, a.sum(), n & 1, a * 2, x + 2.0, a.max(), n | 2, x > 0)
    ).staged(np.arange(3.0), 1.5, 3)
    packing = packing_of(staged)
    assert packing is not None
    assert packing.results == [3, 7, (0, 4), (1, 5), (2, 6)]
    assert [form for form, _ in packing.groups] == [Form.PYTHON, Form.SCALAR, Form.PYTHON]
    assert (packing.numbers, packing.singles_of({0, 7})) == ({0, 4, 2, 6}, {1})
    found = packing.unpacked(["array", "bool", np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5, 6])])
    assert found == (1.0, 3.0, 5, "array", 2.0, 4.0, 6, "bool")
    assert [type(each) for each in found[:3]] == [float, np.float64, int]
    assert packing_of(pystage.compile(lambda x, n: (x + 1.0, n & 1)).staged(1.5, 3)) is None


def test_results_that_are_consecutive_elements_are_a_slice() -> None:
    function = pystage.compile(lambda a: tuple(a.tolist()[1:9])).staged(np.arange(10.0)).function
    made = with_vectors(function, [0], [range(8)]).function
    assert Concatenate not in kinds(made) and Slice in kinds(made)
    (found,) = interpret(made, [np.arange(10.0)])
    assert found.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
