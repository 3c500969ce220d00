"""What users of `jax.jit` meet."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .entries import asked

JAX = "JAX"
X = np.array([3.0, -1.0, 2.0])


@asked(
    JAX,
    "TracerBoolConversionError",
    "A Python `if` or `while` asked a traced array for its truth.",
    jnp.array(2.0),
)
def clipped(x):
    if x > 1.0:
        return jnp.log(x)
    return x - 1.0


@asked(
    JAX,
    "TracerBoolConversionError (`while`)",
    "The condition of a Python loop is a traced array.",
    jnp.array(10.0),
)
def halvings(x):
    n = 0
    while x > 1.0:
        x = x / 2
        n += 1
    return n


@asked(
    JAX, "TracerBoolConversionError (`assert`)", "A traced array cannot be asserted.", jnp.array([1.0, 2.0])
)
def checked(x):
    assert jnp.all(x > 0), "x must be positive"
    return jnp.sqrt(x)


@asked(JAX, "ConcretizationTypeError", "`float(x)` or `int(x)` of a traced array needs its value.", X)
def scaled(x):
    largest = float(x.max())
    return x / largest


@asked(
    JAX,
    "TracerIntegerConversionError",
    "A traced integer was used where Python needs a real one, as in `range(n)` or the index of a list.",
    np.int64(4),
    X,
)
def repeated(n, x):
    for i in range(n):
        x = x * 0.5 + i
    return x


@asked(JAX, "NonConcreteBooleanIndexError", "`x[mask]` has a size that depends on the mask.", X)
def positive_sum(x):
    return x[x > 0].sum()


@asked(
    JAX,
    "NonConcreteBooleanIndexError (the selection is the result)",
    "As above, where the selected elements themselves are asked for.",
    X,
    comment="The result has the size that the mask gives it in this call.",
)
def positive_elements(x):
    return x[x > 0]


@asked(JAX, "TracerArrayConversionError", "A NumPy function was called with a traced array.", X)
def with_numpy(x):
    return np.maximum(np.sin(x), 0.0)


@asked(
    JAX,
    "UnexpectedTracerError",
    "A traced value was kept in a list, a global or an attribute and used after tracing had ended.",
    [],
    2.0,
)
def remembered(history, x):
    y = x * x
    history.append(y)
    return y


@asked(
    JAX,
    "scan: carry input and carry output must have equal types",
    "`jax.lax.scan` wants the carried value to keep its dtype and shape.",
    X,
    comment="A Python loop may begin with an int: its number gets the type that the first trip gives it.",
)
def running_total(x):
    total = 0
    for value in x:
        total = total + value
    return total


@asked(
    JAX,
    "scan: carry input and carry output must have equal types (called by name)",
    "The same in a call of `jax.lax.scan` itself, whose rules pystage keeps.",
    jnp.arange(3.0),
    code="PS654",
)
def scan_of_an_int(x):
    return jax.lax.scan(lambda total, v: (total + v, total), jnp.zeros((), int), x)


@asked(
    JAX,
    "while_loop: body_fun output and input must have identical types",
    "The body of `jax.lax.while_loop` changes the dtype of what it carries.",
    np.int64(20),
)
def mean_step(n):
    step = n
    while step > 1:
        step = step / 2
    return step


@asked(
    JAX,
    "cond: true_fun and false_fun output must have identical types",
    "The two sides of `jax.lax.cond` give different dtypes.",
    2.0,
    comment="The result is an int or a float, as the branch that ran gives it.",
)
def int_or_float(x):
    if x > 0:
        return 1
    return x * 0.5


@asked(
    JAX,
    "Reverse-mode differentiation does not work for lax.while_loop",
    "`jax.grad` cannot go back through a loop whose length is dynamic.",
    2.0,
    comment="`pystage.grad` goes back through it in bounded memory: docs/differentiation.md.",
)
def root(x):
    guess = x
    while abs(guess * guess - x) > 1e-10:
        guess = 0.5 * (guess + x / guess)
    return guess


@asked(
    JAX,
    "TypeError: JAX arrays are immutable",
    "`x[i] = v` is not possible on a `jax.Array`; `x.at[i].set(v)` is.",
    np.zeros(4),
    comment="ndarrays are changed in place, for the caller too; of a `jax.Array` the same TypeError is raised.",
)
def fibonacci(x):
    x[0] = x[1] = 1.0
    for i in range(2, len(x)):
        x[i] = x[i - 1] + x[i - 2]
    return x


@asked(
    JAX,
    "Non-hashable static arguments",
    "A list or an array was named in `static_argnums`, which needs hashes.",
    [2, 3],
    X,
    comment="Nothing is named static: numbers that a shape needs are found and made constants of the program.",
)
def blocks(shape, x):
    return np.zeros(shape) + x


@asked(
    JAX,
    "Shapes must be 1D sequences of concrete values of integer type",
    "A shape was computed from a traced argument.",
    3,
)
def identity(n):
    return np.eye(n) * 2.0


@asked(
    JAX,
    "Explicitly requested dtype float64 is not available",
    "Without `jax_enable_x64`, float64 becomes float32, with a warning or silently.",
    np.array([1e-9, 1.0]),
    comment="ndarrays of float64 are computed in float64, whatever that flag says.",
)
def precise(x):
    return (1.0 + x) - 1.0


@asked(
    JAX,
    "ConcretizationTypeError: the size argument of jnp.nonzero must be statically specified",
    "The size of the result of `nonzero`, `unique` or `where` with one argument depends on values.",
    X,
    comment="No size has to be given: the result has the one that the values give it in this call.",
)
def places(x):
    return np.flatnonzero(x > 0)


RATE = 2.0


@asked(
    JAX,
    "A captured value does not change (no error)",
    "A global or a closure's variable is read once, when the function is traced, and then frozen.",
    X,
    comment="Captured values are read at each call, and assigned where the function does that.",
)
def with_a_global(x):
    return x * RATE


@asked(
    JAX,
    "print shows Traced<ShapedArray(…)>",
    "`print` runs while tracing; `jax.debug.print` prints values.",
    np.float64(2.0),
)
def shown(x):
    print("x is", x)
    return x * 2


@asked(
    JAX,
    "TypeError: sum requires ndarray or scalar arguments, got list",
    "Functions of `jax.numpy` take no lists.",
    [1.0, 2.0],
    code="PS204",
    comment="JAX refuses this call without staging too; NumPy's functions take lists.",
)
def of_a_list(xs):
    return jnp.sin(xs)
