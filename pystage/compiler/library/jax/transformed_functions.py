"""Functions that JAX returned for functions of the program, as `jax.grad(f)` at the top of a module.

In: a Python function. Out: the transformation, its function and its options. JAX has no public API for these: they are
read from the closure of the function, by JAX's own names; a closure with other names is unknown.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import Any

import jax

from ...policy import is_traced

_JAX = os.path.dirname(jax.__file__) + os.sep
_BOUNDARY = "api_boundary.<locals>.reraise_with_filtered_traceback"
_TRANSFORMATIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "value_and_grad.<locals>.value_and_grad_f": (
        jax.value_and_grad,
        ("argnums", "has_aux", "holomorphic", "allow_int"),
    ),
    "vmap.<locals>.vmap_f": (jax.vmap, ("in_axes", "out_axes", "axis_name", "axis_size", "spmd_axis_name")),
    "jacfwd.<locals>.jacfun": (jax.jacfwd, ("argnums", "has_aux", "holomorphic")),
    "jacrev.<locals>.jacfun": (jax.jacrev, ("argnums", "has_aux", "holomorphic", "allow_int")),
    "_shard_map.<locals>.wrapped": (
        jax.shard_map,
        ("mesh", "in_specs", "out_specs", "axis_names", "check_vma"),
    ),
    "checkpoint.<locals>.fun_remat": (jax.checkpoint, ("prevent_cse", "policy", "static_argnums")),
}
_FUNCTIONS = ("fun", "f")
"""What JAX calls the function that is transformed."""
_GRADIENTS = ("grad.<locals>.grad_f", "grad.<locals>.grad_f_aux")

JaxTransformation = tuple[Callable[..., Any], Any, dict[str, Any]]
"""A transformation of JAX's, the function that it was given, and its options."""


def is_transformed(function: object) -> bool:
    """True for a function of JAX's code that stands for one of the program."""
    if not isinstance(function, types.FunctionType) or not function.__code__.co_filename.startswith(_JAX):
        return False
    return not is_traced(function)


def transformation_of(function: types.FunctionType) -> JaxTransformation | None:
    """The transformation that returned the function; None if unknown."""
    held = _closure(function)
    name = function.__code__.co_qualname
    if name == _BOUNDARY and isinstance(inner := held.get("fun"), types.FunctionType):
        return transformation_of(inner)
    if name in _GRADIENTS and isinstance(inner := held.get("value_and_grad_f"), types.FunctionType):
        found = transformation_of(inner)
        return None if found is None else (jax.grad, *found[1:])
    transformation, names = _TRANSFORMATIONS.get(name, (None, ()))
    fun = next((n for n in _FUNCTIONS if n in held), None)
    if transformation is None or fun is None or not held.keys() >= set(names):
        return None
    # JAX has an object of no class of its own for what was not given.
    options = {n: held[n] for n in names if type(held[n]) is not object}
    return transformation, held[fun], options


def _closure(function: types.FunctionType) -> dict[str, Any]:
    return {n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__ or ())}
