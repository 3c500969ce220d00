"""What known Python functions mean, in terms of HLO operations.

python/   builtins, `math`, containers and their methods, operators, strings
numpy/    NumPy's functions and methods; in folders: indexing, linalg, random, reductions
jax/      `jax.nn`, `jax.tree`, `jax.random`, `.at`, the long tail that JAX traces; in a folder: lax
scipy/    SciPy's functions that JAX has too
kernels/  what several of them are made of, on values of the program
rules/    whose rules a function follows: promotion, casting, bounds; what is refused, and what to do instead

context.py is what a meaning sees of inference, registry.py the table of all, everything.py imports them.
"""
