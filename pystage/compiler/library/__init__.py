"""Meanings: the rules by which calls of known Python functions become HLO operations.

interfaces/  the interfaces of inference to meanings; `context.py` is all of them
rules/       rules that NumPy, JAX and Python share: promotion, casting, bounds, splits; refusals and advice
kernels/     computations on program values
prelude/     Python's containers and iterators as plain programs, which are staged
containers/  lists, deques, dicts and sets as rows
operands/    arguments as operands: by the rules of NumPy and JAX, nested sequences, reductions
jax/         `jax.tree`, `jax.random`, `.at`, calls that JAX traces; in folders: lax, functions (`jit`, `jax.nn`)
python/      builtins, `math`, containers and their methods, iterators, operators, strings
numpy/       NumPy's functions and methods; in folders: indexing, subscripts, ufuncs, reductions, linalg, random, bounded
scipy/       SciPy's functions that JAX has too

registry.py holds the table of meanings; declarations.py imports every module that declares one.
"""
