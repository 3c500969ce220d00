"""The long tail: what has no meaning of its own goes to JAX as one operation, with JAX's types and weak types."""

from __future__ import annotations

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, NeedsKnown, PlainContext, check, check_call, refused
from pystage.compiler.library.jax.random import is_key, key_attribute, key_item
from pystage.compiler.library.jax.traced_calls import is_jax_callable, jax_call, jax_method
from pystage.compiler.ops.foreign.jax_call import JaxCall
from pystage.compiler.values.lattice import Const, Tuple

X = jnp.asarray([[4.0, 1.0], [2.0, 3.0]], jnp.float32)
V = jnp.asarray([0.5, 1.5, 2.5], jnp.float32)


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


def through_jax(function):
    """The tail's door, also where the library has a meaning."""
    return lambda ctx, *args, **kwargs: jax_call(ctx, function, args, kwargs)


CALLS = {
    "several results": (jnp.linalg.qr, (X,), {}),
    "a named tuple": (jnp.linalg.slogdet, (X,), {}),
    "static arguments": (jnp.histogram, (V, Known(3)), {"range": Known((0.0, 3.0))}),
    "Python scalars": (jnp.hypot, (X, 2.0), {}),
    "only Python scalars": (jnp.hypot, (2.0, 3), {}),
    "a NumPy scalar": (jnp.hypot, (X, np.float64(2)), {}),
    "an ndarray": (jnp.interp, (np.linspace(0, 3, 4), V, V), {}),
    "a list of arrays": (jnp.block, ([[X, X], [X, X]],), {}),
    "keywords": (jnp.nanmean, (X,), {"axis": Known(0)}),
    "a function of JAX": (jax.lax.associative_scan, (Known(jnp.add), V), {}),
    "integers": (jnp.cov, (jnp.asarray([[1, 2], [3, 5]]),), {}),
    "a method": (jax_method("round"), (X, Known(1)), {}),
    "a slice": (operator.getitem, (V, Known(slice(0, 2))), {}),
    "no arrays": (jnp.hanning, (Known(5),), {}),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case, x64):
    function, args, kwargs = CALLS[case]
    check(through_jax(function), function, *args, **kwargs)


def test_a_call_is_one_operation():
    ctx = PlainContext()
    ctx.call(Const(jnp.linalg.slogdet), [ctx.lift(X)])
    assert [type(op.kind) for op in ctx.body.ops] == [JaxCall]


def test_results_that_are_no_arrays():
    check_call(jnp.issubdtype, Known(jnp.float32), Known(np.floating))
    check_call(jnp.result_type, Known(jnp.float32), Known(jnp.int32))
    check_call(jnp.promote_types, Known("int8"), Known("uint8"))
    assert PlainContext().call(Const(jnp.iinfo), [Const("int8")]).value.max == 127
    check_call(jnp.iinfo, Known("float32"))
    check_call(jax.dtypes.canonicalize_dtype, Known("float64"))
    check(through_jax(jnp.ndim), jnp.ndim, X)
    check(through_jax(jnp.shape), jnp.shape, X)


def test_what_jax_refuses_is_refused():
    refused("PS651", through_jax(jnp.linalg.qr), V)
    refused("PS651", through_jax(jnp.linalg.solve), X, V)


def test_a_python_scalar_that_jax_needs_is_demanded():
    ctx = PlainContext()
    with pytest.raises(NeedsKnown, match="jax"):
        jax_call(ctx, jnp.hanning, [ctx.lift(5)])


def test_an_array_that_jax_needs_is_refused():
    refused("PS656", through_jax(jnp.hanning), jnp.asarray(5))


def user_function(x):
    return x + 1


class UserCallable:
    def __call__(self, x):
        return x + 1


@pytest.mark.parametrize(
    "argument",
    [
        user_function,
        functools.partial(user_function, 1),
        UserCallable(),
        jax.jit(user_function),
        UserCallable,
    ],
    ids=["function", "partial", "object", "jitted", "class"],
)
def test_functions_of_the_program_are_refused(argument):
    refused("PS650", through_jax(jax.vmap), Known(argument))
    refused("PS650", through_jax(jnp.apply_along_axis), Known(argument), Known(0), X)
    refused("PS650", through_jax(jax.tree_util.tree_map), Known({"a": argument}), X)


def test_which_callables_are_jax_s():
    for function in (
        jnp.sin,
        jax.random.normal,
        functools.partial(jnp.sum, axis=0),
        jax.vmap(jnp.dot),
        jnp.float32,
    ):
        assert is_jax_callable(function)
    for function in (user_function, jax.jit(user_function), jax.vmap(user_function), np.sin, len, 3):
        assert not is_jax_callable(function)


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
@pytest.mark.parametrize("seed", [0, 7, np.int32(5), jnp.uint32(3)])
def test_random_numbers(make, seed, x64):
    def plain(seed):
        first, second = jax.random.split(make(seed))
        folded = jax.random.fold_in(second, 3)
        return (
            jax.random.normal(first, (2, 3)),
            jax.random.randint(folded, (4,), 0, 9),
            jax.random.uniform(second),
        )

    def staged(ctx, seed):
        def call(function, *args):
            return ctx.call(
                Const(function), [a if not isinstance(a, int | tuple) else Const(a) for a in args]
            )

        keys = call(jax.random.split, call(make, seed))
        rows = [key_item(ctx, keys, Const(i)) for i in range(2)] if is_key(keys) else ctx.iterate(keys)
        folded = call(jax.random.fold_in, rows[1], 3)
        made = (
            call(jax.random.normal, rows[0], (2, 3)),
            call(jax.random.randint, folded, (4,), 0, 9),
            call(jax.random.uniform, rows[1]),
        )
        return Tuple(made)

    check(staged, plain, seed)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_keys_as_values(impl):
    def plain(seed):
        keys = jax.random.split(jax.random.key(seed, impl=impl), (3, 2))
        picked = keys[1:, 0]
        return keys.shape, keys.ndim, keys.size, str(keys.dtype), jax.random.key_data(picked.reshape(2, 1))

    def staged(ctx, seed):
        key = ctx.call(Const(jax.random.key), [seed], {"impl": Const(impl)})
        keys = ctx.call(Const(jax.random.split), [key, Const((3, 2))])
        facts = [key_attribute(ctx, keys, name) for name in ("shape", "ndim", "size")]
        dtype = Const(str(key_attribute(ctx, keys, "dtype").value))
        picked = key_item(ctx, keys, Const((slice(1, None), 0)))
        column = ctx.call(key_attribute(ctx, picked, "reshape"), [Const(2), Const(1)])
        return Tuple((*facts, dtype, ctx.call(Const(jax.random.key_data), [column])))

    check(staged, plain, 3)


# ---------------------------------------------------------------- structures


class Pair(NamedTuple):
    first: object
    second: object


TREE = {"b": (X, 1.5), "a": [np.arange(3.0), None], "c": Pair(2, V)}


def test_tree_functions():
    check_call(jax.tree.map, Known(jnp.negative), TREE)
    check_call(jax.tree.map, Known(jnp.add), TREE, TREE)
    check_call(jax.tree_util.tree_map, Known(jnp.add), TREE, TREE)
    check_call(jax.tree.leaves, TREE)
    check_call(jax.tree.structure, TREE)
    check_call(jax.tree.flatten, TREE)
    check_call(jax.tree.leaves_with_path, TREE)
    check_call(jax.tree.reduce, Known(jnp.add), {"a": V, "b": 2.0})
    check_call(jax.tree.reduce, Known(jnp.add), [V, V], 1.0)
    check_call(jax.tree.all, Known((True, 1, None)))


def test_tree_round_trip():
    structure = jax.tree.structure(TREE)
    check(
        lambda ctx, tree: ctx.call(
            Const(jax.tree.unflatten), [Const(structure), ctx.call(Const(jax.tree.leaves), [tree])]
        ),
        lambda tree: jax.tree.unflatten(structure, jax.tree.leaves(tree)),
        TREE,
    )


def test_trees_that_do_not_fit():
    check_call(jax.tree.map, Known(jnp.add), {"a": V}, {"b": V})
    check_call(jax.tree.unflatten, Known(jax.tree.structure([1, 2])), [V])
