"""`scipy.special` and `scipy.linalg`, through their twins in `jax.scipy`.

SciPy is no dependency: the meanings are declared when a program that is being staged has imported it. The element types
are those that SciPy's own ufuncs resolve to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import jax
import jax.numpy as jnp
import jax.scipy  # loads its parts when they are first used
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.ir import Value
from ...hlo.types import FLOAT64, is_complex, is_floating
from ...ops import Imag, IsFinite, Not, Real
from ...values.boundary import Form
from ...values.lattice import Abstract, Const, Tuple
from ..context import Context, Raw
from ..kernels.arithmetic import any_of
from ..kernels.structures import abstract
from ..numpy.jax_twin import twin
from ..numpy.linalg.factorisations import refuse_if, require_positive
from ..numpy.ufuncs.elementwise import ElementwiseFunction, call_numpy
from ..numpy.ufuncs.ufuncs import with_ufunc_options
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from ..rules.jax import is_none
from ..rules.promote import SAME_KIND, Casting

_UFUNCS = [
    "erf",
    "erfc",
    "erfinv",
    "gammaln",
    "gamma",
    "digamma",
    "psi",
    "expit",
    "logit",
    "xlogy",
    "xlog1py",
    "entr",
    "ndtr",
    "ndtri",
    "log_ndtr",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "betaln",
    "beta",
    "betainc",
    "gammainc",
    "gammaincc",
    "zeta",
    "rel_entr",
    "kl_div",
    "exp1",
    "expi",
]
_TWINS = {"psi": "digamma"}


def _kernel(function: Callable[..., Any]) -> Callable[..., Value]:
    def kernel(ctx: Context, form: Form, *values: Value) -> Value:
        return twin(ctx, function, *values)[0]

    return kernel


def _declare_ufunc(ufunc: np.ufunc, function: Callable[..., Any]) -> None:
    """A ufunc of SciPy, with NumPy's keywords."""
    declared = ElementwiseFunction(ufunc.__name__, ufunc, _kernel(function))

    def call(
        ctx: Context, args: Any, out: Raw, where: Raw, dtype: Raw, casting: Casting = SAME_KIND
    ) -> Abstract:
        return call_numpy(ctx, declared, args, out, where, dtype, casting)

    meaning(ufunc)(with_ufunc_options(ufunc.nin, call))


def declare_special(module: ModuleType) -> None:
    """Declares the functions of `scipy.special` that JAX has."""
    done: set[int] = set()
    for name in _UFUNCS:
        ufunc = getattr(module, name, None)
        function = getattr(jax.scipy.special, _TWINS.get(name, name), None)
        if isinstance(ufunc, np.ufunc) and function is not None and id(ufunc) not in done:
            done.add(id(ufunc))
            _declare_ufunc(ufunc, function)
    meaning(module.logsumexp)(logsumexp)
    meaning(module.softmax)(_along(jax.nn.softmax))
    meaning(module.log_softmax)(_along(jax.nn.log_softmax))


def _inexact(ctx: Context, a: Raw, name: str) -> Value:
    given = nested(ctx, NUMPY, a, name)
    keeps = is_floating(given.dtype) or is_complex(given.dtype)
    return given.value if keeps else ctx.convert(given.value, FLOAT64)


def logsumexp(ctx: Context, a: Raw, axis: Raw = None, *, keepdims: Raw = False) -> Abstract:
    """`scipy.special.logsumexp`, without weights."""
    at = None if is_none(axis) else ctx.known(axis, "the axis of logsumexp")
    keep = bool(ctx.known(keepdims, "keepdims of logsumexp"))
    value = _inexact(ctx, a, "scipy.special.logsumexp")
    return ctx.new(twin(ctx, jax.scipy.special.logsumexp, value, axis=at, keepdims=keep)[0])


def _along(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """A function of all elements, or of those along an axis, in the shape of its argument."""

    def call(ctx: Context, x: Raw, axis: Raw = None) -> Abstract:
        value = _inexact(ctx, x, function.__name__)
        given = None if is_none(axis) else ctx.known(axis, f"the axis of {function.__name__}")
        return ctx.new(
            twin(ctx, function, value, axis=tuple(range(value.type.rank)) if given is None else given)[0]
        )

    return call


# ---------------------------------------------------------------- scipy.linalg


def declare_linalg(module: ModuleType) -> None:
    """Declares the functions of `scipy.linalg` that array programs use, without their options of memory and of LAPACK."""
    meaning(module.solve)(_as_numpy(np.linalg.solve, 2))
    meaning(module.inv)(_as_numpy(np.linalg.inv, 1))
    meaning(module.norm)(_norm)
    meaning(module.cholesky)(cholesky)
    meaning(module.solve_triangular)(solve_triangular)
    meaning(module.expm)(expm)
    meaning(module.eigvalsh)(_as_numpy(np.linalg.eigvalsh, 1))
    meaning(module.det)(_as_numpy(np.linalg.det, 1))
    meaning(module.eigh)(_parts_of_numpy(np.linalg.eigh))
    meaning(module.svd)(_parts_of_numpy(np.linalg.svd))
    meaning(module.lu)(lu)
    meaning(module.lu_factor)(lu_factor)
    meaning(module.lu_solve)(lu_solve)
    meaning(module.cho_factor)(cho_factor)
    meaning(module.cho_solve)(cho_solve)


def _require_finite(ctx: Context, check: Raw, *arrays: Raw) -> None:
    """SciPy's ValueError in the program for infinities and NaN among the elements, unless `check_finite` is false."""
    if not ctx.known(check, "check_finite"):
        return
    for array in arrays:
        value = nested(ctx, NUMPY, array, "scipy.linalg").value
        if is_complex(value.type.dtype):
            parts = [ctx.op(part, value) for part in (Real(), Imag())]
        else:
            parts = [value] if is_floating(value.type.dtype) else []
        for part in parts:
            bad = any_of(ctx, ctx.op(Not(), ctx.op(IsFinite(), part)))
            ctx.check(bad, ValueError(_NOT_FINITE), _refuse, [_NOT_FINITE])


_NOT_FINITE = "array must not contain infs or NaNs"


def _refuse(text: str) -> None:
    raise ValueError(text)


def _as_numpy(function: Any, count: int) -> Callable[..., Abstract]:
    """A function that `np.linalg` has too."""

    def one(ctx: Context, a: Raw, *, check_finite: Raw = True) -> Abstract:
        _require_finite(ctx, check_finite, a)
        return ctx.call(Const(function), [abstract(a)])

    def two(ctx: Context, a: Raw, b: Raw, *, check_finite: Raw = True) -> Abstract:
        _require_finite(ctx, check_finite, a, b)
        return ctx.call(Const(function), [abstract(a), abstract(b)])

    return one if count == 1 else two


def _parts_of_numpy(function: Any) -> Callable[..., Abstract]:
    """A factorisation that `np.linalg` has too, and gives as a named tuple."""

    def call(ctx: Context, a: Raw, *, check_finite: Raw = True) -> Abstract:
        _require_finite(ctx, check_finite, a)
        return Tuple(cast(Tuple, ctx.call(Const(function), [abstract(a)])).items)

    return call


def _square(ctx: Context, a: Raw, name: str) -> Value:
    value = _inexact(ctx, a, name)
    shape = value.type.shape
    if len(shape) != 2:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="stack of matrices"))
    return value


def lu(ctx: Context, a: Raw, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.lu`: permutation, lower and upper factor."""
    _require_finite(ctx, check_finite, a)
    return Tuple(
        tuple([ctx.ndarray(v) for v in twin(ctx, jax.scipy.linalg.lu, _square(ctx, a, "scipy.linalg.lu"))])
    )


def lu_factor(ctx: Context, a: Raw, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.lu_factor`: both factors in one matrix, and the pivots."""
    _require_finite(ctx, check_finite, a)
    found = twin(ctx, jax.scipy.linalg.lu_factor, _square(ctx, a, "scipy.linalg.lu_factor"))
    return Tuple(tuple([ctx.ndarray(v) for v in found]))


def _factored(ctx: Context, given: Raw, name: str) -> list[Abstract]:
    pair = ctx.iterate(abstract(given))
    if pair is None or len(pair) != 2:
        ctx.raise_(TypeError(f"{name} takes what its factorisation gave: a pair"))
    return pair


def lu_solve(ctx: Context, lu_and_piv: Raw, b: Raw, trans: Raw = 0, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.lu_solve`."""
    _require_finite(ctx, check_finite, b)
    name = "scipy.linalg.lu_solve"
    factors, pivots = _factored(ctx, lu_and_piv, name)
    values = [_inexact(ctx, each, name) for each in (factors, b)]
    dtype = np.result_type(*[v.type.dtype for v in values])
    positions = nested(ctx, NUMPY, pivots, name).value
    solve = _LU_SOLVE[int(ctx.known(trans, f"trans of {name}"))]
    return ctx.ndarray(
        twin(ctx, solve, ctx.convert(values[0], dtype), positions, ctx.convert(values[1], dtype))[0]
    )


def _lu_solve(trans: int, factors: jax.Array, pivots: jax.Array, b: jax.Array) -> jax.Array:
    return jax.scipy.linalg.lu_solve((factors, pivots), b, trans)


_LU_SOLVE = {trans: functools.partial(_lu_solve, trans) for trans in range(3)}


def cho_factor(ctx: Context, a: Raw, lower: Raw = False, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.cho_factor`: a triangle and which one it is. SciPy leaves the other triangle as it was."""
    _require_finite(ctx, check_finite, a)
    name = "scipy.linalg.cho_factor"
    is_lower = bool(ctx.known(lower, f"lower of {name}"))
    value = _square(ctx, a, name)
    (factor,) = twin(ctx, _CHOLESKY[is_lower], value)
    require_positive(ctx, value, factor, _NOT_POSITIVE)
    return Tuple((ctx.ndarray(factor), Const(is_lower)))


_NOT_POSITIVE = "Matrix is not positive definite"


def _factor_beside(is_lower: bool, a: jax.Array) -> jax.Array:
    factor, rest = (
        jax.scipy.linalg.cholesky(a, lower=is_lower),
        jnp.triu(a, 1) if is_lower else jnp.tril(a, -1),
    )
    return factor + rest


_CHOLESKY = {flag: functools.partial(_factor_beside, flag) for flag in (False, True)}


def cho_solve(ctx: Context, c_and_lower: Raw, b: Raw, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.cho_solve`."""
    name = "scipy.linalg.cho_solve"
    factor, lower = _factored(ctx, c_and_lower, name)
    _require_finite(ctx, check_finite, b, factor)
    values = [_inexact(ctx, each, name) for each in (factor, b)]
    dtype = np.result_type(*[v.type.dtype for v in values])
    solve = _CHO_SOLVE[bool(ctx.known(lower, f"lower of {name}"))]
    return ctx.ndarray(twin(ctx, solve, *[ctx.convert(v, dtype) for v in values])[0])


def _cho_solve(is_lower: bool, factor: jax.Array, b: jax.Array) -> jax.Array:
    return jax.scipy.linalg.cho_solve((factor, is_lower), b)


_CHO_SOLVE = {flag: functools.partial(_cho_solve, flag) for flag in (False, True)}


def _norm(
    ctx: Context,
    a: Raw,
    ord: Raw = None,
    axis: Raw = None,
    keepdims: Raw = False,
    check_finite: Raw = True,
) -> Abstract:
    """`scipy.linalg.norm`, which is NumPy's."""
    _require_finite(ctx, check_finite, a)
    given = [abstract(each) for each in (a, ord, axis, keepdims)]
    return ctx.call(Const(np.linalg.norm), given)


def cholesky(ctx: Context, a: Raw, lower: Raw = False, *, check_finite: Raw = True) -> Abstract:
    """`scipy.linalg.cholesky`: the upper factor by default."""
    _require_finite(ctx, check_finite, a)
    upper = Const(not ctx.known(lower, "lower of scipy.linalg.cholesky"))
    return ctx.call(Const(np.linalg.cholesky), [abstract(a)], {"upper": upper})


def _has_zero_diagonal(a: jax.Array) -> jax.Array:
    return jnp.any(jnp.diagonal(jax.lax.stop_gradient(a)) == 0)


def solve_triangular(
    ctx: Context,
    a: Raw,
    b: Raw,
    trans: Raw = 0,
    lower: Raw = False,
    unit_diagonal: Raw = False,
    *,
    check_finite: Raw = True,
) -> Abstract:
    """`scipy.linalg.solve_triangular`."""
    _require_finite(ctx, check_finite, a, b)
    name = "scipy.linalg.solve_triangular"
    values = [_inexact(ctx, each, name) for each in (a, b)]
    dtype = np.result_type(*[v.type.dtype for v in values])
    options = {"trans": trans, "lower": lower, "unit_diagonal": unit_diagonal}
    known = {key: ctx.known(value, f"{key} of {name}") for key, value in options.items()}
    if values[0].type.rank != 2:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="stack of matrices"))
    operands = [ctx.convert(v, dtype) for v in values]
    if not known["unit_diagonal"]:
        refuse_if(ctx, twin(ctx, _has_zero_diagonal, operands[0])[0], "singular matrix")
    return ctx.ndarray(twin(ctx, jax.scipy.linalg.solve_triangular, *operands, **known)[0])


def expm(ctx: Context, A: Raw) -> Abstract:
    """`scipy.linalg.expm`: the exponential of square matrices."""
    return ctx.ndarray(twin(ctx, jax.scipy.linalg.expm, _inexact(ctx, A, "scipy.linalg.expm"))[0])
