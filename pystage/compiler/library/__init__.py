"""Meanings: the rules by which calls of known Python functions become HLO operations.

python/   builtins, `math`, containers and their methods, operators, strings
numpy/    NumPy's functions and methods; in folders: indexing, linalg, random, reductions
jax/      `jax.nn`, `jax.tree`, `jax.random`, `.at`, calls that JAX traces; in a folder: lax
scipy/    SciPy's functions that JAX has too
kernels/  computations on program values that several meanings share
rules/    rules that NumPy, JAX and Python apply: promotion, casting, bounds, splits; refusals and advice

context.py declares the interface of inference to a meaning, registry.py holds the table of meanings, everything.py
imports every module that declares one.
"""
