"""Packages that are refused, with advice: their data are not arrays, or their code is compiled."""

from __future__ import annotations

from ..library.rules.foreign import Advice
from ..policy import Package, Policy
from .bridge import Bridge


def _opaque(name: str, why: str, instead: str) -> Bridge:
    """Of which nothing is staged, whatever its source says."""
    return Bridge(Package(name, Policy.OPAQUE), advice={name: Advice(why, instead, whole=True)})


def _compiled(name: str, why: str, instead: str) -> Bridge:
    """Whose functions are compiled code, or wrap it: what there is of Python source is staged."""
    return Bridge(Package(name), advice={name: Advice(why, instead)})


OPAQUE = (
    _opaque(
        "pandas",
        "columns of a frame are objects of pandas, which pystage does not look into",
        "pass arrays in: `df['x'].to_numpy()`; make the frame of what is returned",
    ),
    _opaque("polars", "columns of a frame are objects of polars", "pass arrays in: `df['x'].to_numpy()`"),
    _opaque(
        "torch",
        "tensors of PyTorch are not arrays of NumPy or JAX",
        "pass `t.numpy()` in, and use NumPy or `jax.numpy` inside",
    ),
    _opaque(
        "tensorflow",
        "tensors of TensorFlow are not arrays of NumPy or JAX",
        "pass `t.numpy()` in, and use NumPy or `jax.numpy` inside",
    ),
    _opaque(
        "sklearn",
        "its estimators call compiled code of their own",
        "fit outside, and stage the arithmetic on what was fitted (`model.coef_`, `model.cluster_centers_`)",
    ),
    _opaque("matplotlib", "it draws on the screen", "draw what the call returns"),
    _opaque("PIL", "images of Pillow are not arrays", "pass `np.asarray(image)` in"),
    _compiled("cv2", "it calls compiled code of its own", "call it before or after the staged function"),
    _opaque("networkx", "its graphs are dicts of objects", "pass the adjacency matrix in as an array"),
    _opaque(
        "sympy",
        "its expressions are objects",
        "make a function with `sympy.lambdify` outside, and call that",
    ),
    _compiled("numba", "functions of Numba are compiled code", "call the plain function: `f.py_func`"),
    _opaque(
        "tqdm",
        "it writes to the terminal in each trip",
        "loop over the range itself, or `print` now and then",
    ),
)
