"""NumPy functions that JAX computes: one `JaxCall` of the twin, in NumPy's element types.

In: values in the element types that NumPy computes with. Out: the values of the twin's results. JAX traces with 64 bits
enabled regardless of the user's setting, because these are calls of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...diagnostics.codes_jax import RefusedByJax
from ...hlo.ir import Value
from ...ops.foreign.jax_call import ArrayLeaf, JaxCall, JaxCallError, JaxSettings, Leaf, Static
from ..context import Context

_SETTINGS = JaxSettings(enable_x64=True, default_matmul_precision="highest")


def twin(ctx: Context, /, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Value]:
    """The results of a function of JAX on values; what is no `Value` among the arguments is static.

    PS651 where JAX refuses the call.
    """
    try:
        call, operands = JaxCall.bind(function, args, kwargs, _leaf, _SETTINGS)
        return list(ctx.b.ops(call, *operands))
    except JaxCallError as error:
        ctx.fail(RefusedByJax(span=ctx.span, reason=str(error)))


def _leaf(given: Any) -> Leaf:
    return ArrayLeaf(given.type) if isinstance(given, Value) else Static(given)
