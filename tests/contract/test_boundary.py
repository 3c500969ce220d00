"""What goes into a compiled function and comes out of it: dtypes, kinds, structure, many calls."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
)
DTYPES += ("float64", "complex64", "complex128")


def through(x):
    return x, x + x, {"x": [x * 1]}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_passes(dtype):
    check(through, np.array([[1, 0, 3]], dtype))
    check(through, np.array([1, 0, 3], dtype)[2])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if "64" not in d and d != "complex128"] + ["bfloat16"])
def test_every_jax_dtype_passes(dtype):
    check(through, jnp.array([[1, 0, 3]], dtype))
    check(through, jnp.array(1, dtype))


@pytest.mark.parametrize("value", [True, 3, -2.5, 1 + 2j, 2**40], ids=str)
def test_python_scalars_pass(value):
    check(lambda x: (x, x + x, x == x), value)


@cases("text", None, (1, "a"), np.float32, jnp.sin)
def static_arguments(name, nothing, pair, dtype, function):
    return name + "!", nothing, pair, np.zeros(2, dtype), function is jnp.sin


@cases(np.zeros((0, 3)), np.zeros(()), np.zeros((1, 1, 1)), np.array([], int))
def unusual_shapes(empty, scalar, ones, nothing):
    return empty + 1, scalar + 1, ones + 1, nothing * 2, empty.sum()


@cases(np.arange(12.0).reshape(3, 4).T, np.arange(10.0)[::2], np.arange(6.0).reshape(2, 3)[:, ::-1])
def arguments_of_unusual_layout(transposed, strided, reversed_rows):
    return transposed * 2, strided + 1, reversed_rows.sum(axis=0)


@cases(np.array([1, 2, 3], ">i4"), np.array([1.0, 2.0], ">f8"), refused="PS802")
def arguments_of_other_byte_order(n, x):
    return n + 1, x * 2.0


@cases(5)
def constants_only(n):
    return 1, 2.5, "text", None, (True, 3j), [np.float32(1.0)], {"a": np.int8(3)}


@cases()
def no_arguments():
    return np.arange(3) * 2.0, 1.5


@cases(1.0, (2.0, [np.array([3.0]), {"k": (4.0,)}]))
def unused_arguments(x, tree):
    return x * 2


@cases({"b": 1.0, "a": [2.0, (np.array([3.0]), None)]}, [])
def structure_of_arguments(tree, nothing):
    return tree["a"][1][0] + tree["b"], tree, nothing


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_one_compiled_function_serves_many_signatures():
    def program(x, n=2):
        return x * n + 1

    staged = pystage.compile(program)
    arguments = [
        (1.0,),
        (3,),
        (np.ones(3),),
        (np.ones(4),),
        (np.ones((2, 2), np.float32),),
        (np.float32(2.0),),
        (jnp.ones(3),),
        (True,),
        (2.0, 5.0),
        (np.ones(3, np.int8), 3),
        (1.0, np.ones(2)),
    ]
    for args in arguments + arguments[::-1]:
        check(program, *args, staged=staged)


def test_one_compiled_function_serves_many_structures():
    def program(tree):
        total = 0.0
        for item in tree:
            total = total + (item if not isinstance(item, tuple) else sum(item))
        return total, len(tree)

    staged = pystage.compile(program)
    for tree in ([1.0], [1.0, 2.0], (1.0, 2.0), [1.0, (2.0, 3.0)], [], [(1.0,), (2.0, 3.0)]):
        check(program, tree, staged=staged)


def test_aliased_and_separate_arguments_are_told_apart():
    def program(x, y):
        x += 1.0
        y *= 2.0
        return x + y

    staged = pystage.compile(program)
    one, other = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    check(program, one, other, staged=staged)
    check(program, one, one, staged=staged)
    check(program, one, other, staged=staged)


def test_a_value_that_must_be_known_is_specialised_on():
    def program(x, n, axis):
        return np.zeros(n), x.sum(axis=axis), x.reshape(n, -1) + 0, [n] * n

    staged = pystage.compile(program)
    for n, axis in ((2, 0), (3, 1), (1, 0), (2, -1), (2, None)):
        check(program, np.arange(12.0).reshape(6, 2), n, axis, staged=staged)


def test_many_calls_with_new_values_do_not_compile_again():
    def program(x, k):
        return x * k

    staged = pystage.compile(program)
    for k in range(20):
        check(program, np.array([1.0, 2.0]), float(k), staged=staged, runs=1)
        check(program, np.array([1.0, 2.0]), k, staged=staged, runs=1)


def test_works_inside_jit():
    @pystage.compile
    def program(x, n):
        while n > 0:
            x = x * 2 + n
            n = n - 1
        return x

    inside = jax.jit(lambda x, n: program(x, n) + 1)(jnp.ones(3), jnp.int32(4))
    assert isinstance(inside, jax.Array)
    np.testing.assert_allclose(inside, np.asarray(program(jnp.ones(3), jnp.int32(4))) + 1)


def test_arrays_may_be_changed_right_after_the_call():
    @pystage.compile
    def program(x):
        return jnp.cumsum(jnp.asarray(x, jnp.float32)) * 2

    for size in (10, 1_000_000):
        x = np.ones(size, np.float32)
        result = program(x)
        x[:] = -1.0
        assert float(result[-1]) == pytest.approx(2.0 * size)


def test_threads_may_call_one_compiled_function():
    @pystage.compile
    def program(x, n):
        for i in range(n):
            x = x * 0.5 + i
        return x

    def plain(x, n):
        for i in range(n):
            x = x * 0.5 + i
        return x

    wrong, start = [], threading.Barrier(6)

    def call(k):
        start.wait()
        for n in range(5):
            for shape in (2, 3):
                got = program(np.full(shape, float(k)), n)
                if not np.allclose(got, plain(np.full(shape, float(k)), n)):
                    wrong.append((k, n, shape))

    threads = [threading.Thread(target=call, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---------------------------------------------------------------- the shape of JAX's ahead-of-time API


def halve(x, limit):
    steps = 0
    while x.sum() > limit:
        x = x / 2
        steps += 1
    return x, steps


def test_lowered_from_values_specs_and_shapes():
    x, staged = np.arange(3.0), pystage.compile(halve)
    spec, shape = pystage.spec("f64[3]"), jax.ShapeDtypeStruct((3,), np.float64)
    texts = [staged.lower(first, 1.0).as_text("stablehlo") for first in (x, spec, shape)]
    assert "stablehlo.while" in texts[0]
    assert "HloModule" in staged.lower(x, 1.0).as_text("hlo")
    assert "tensor<3xf64>" in texts[1]
    assert "tensor<3xf" in texts[2]


def test_compiled_is_callable_and_describes_itself():
    x = np.arange(3.0)
    compiled = pystage.compile(halve).lower(x, 1.0).compile()
    check(halve, x, 1.0, staged=compiled)
    counts = compiled.instruction_counts()
    assert counts.entry > 0
    assert counts.total >= counts.entry
    assert compiled.cost_analysis()
    assert compiled.memory_analysis() is not None
    assert "while" in compiled.as_text()


def test_programs_print_with_their_source_lines():
    lowered, typed = pystage.code_lowered(halve), pystage.code_typed(halve, np.arange(3.0), 1.0)
    line = str(halve.__code__.co_firstlineno + 2)
    assert "while" in lowered
    assert line in lowered
    assert "f64[3]" in typed
    assert line in typed
    assert "HloModule" in pystage.code_hlo(halve, np.arange(3.0), 1.0)
    assert "HloModule" in pystage.code_hlo(halve, np.arange(3.0), 1.0, optimized=True)


def test_decorator_forms():
    @pystage.compile
    def bare(x):
        return x + 1

    @pystage.compile(name="other", fallback="error")
    def configured(x):
        return x + 2

    class Model:
        @pystage.compile
        def method(self, x):
            return x * self.k

        def __init__(self):
            self.k = 3.0

    assert (bare(1.0), configured(1.0), Model().method(2.0)) == (2.0, 3.0, 6.0)
    assert bare.__name__ == "bare"
    assert "other" in configured.lower(1.0).as_text("stablehlo")


def test_fallback_runs_what_cannot_be_staged():
    def program(x):
        return eval("x + 1")

    with pytest.warns(pystage.FallbackWarning, match="PS601"):
        assert pystage.compile(program, fallback="python")(1.0) == 2.0
    with pytest.raises(pystage.StagingError):
        pystage.compile(program, fallback="error")(1.0)


def test_donated_arguments_are_used_up():
    staged = pystage.compile(lambda x, y: x + y, donate=(0,))
    x, y = jnp.ones(4), jnp.ones(4)
    assert staged(x, y).tolist() == [2.0] * 4
    assert x.is_deleted()
    assert not y.is_deleted()
