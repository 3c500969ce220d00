"""Binding of arguments to parameters, as Python does it.

In: the parameters of a function, their defaults, and the arguments of a call. Out: a value for each parameter, or Python's
own TypeError where the arguments do not fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence

from ...stage import ir as stage
from ...values.lattice import Abstract, DictCell, Ref, Tuple
from .engine import Engine


def bind(
    params: stage.Parameters,
    name: str,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    defaults: Mapping[str, Abstract],
    engine: Engine,
) -> dict[str, Abstract]:
    """Binds arguments to parameters as Python does; its TypeErrors are raised by the program.

    The values are in the order of the parameters, by which calls are compared.
    """
    ordered = [*params.positional_only, *params.positional]
    bound: dict[str, Abstract] = dict(zip(ordered, args))
    extra = args[len(ordered) :]
    fits = not extra or params.star is not None
    rest: dict[str, Abstract] = {}
    for key, value in kwargs.items():
        if key in params.positional or key in params.keyword_only:
            fits = fits and key not in bound
            bound[key] = value
        else:
            fits = fits and params.double_star is not None
            rest[key] = value
    names = (*ordered, *params.keyword_only)
    given = {**defaults, **bound}
    if not fits or not given.keys() >= set(names):
        engine.raise_(refusal(_signature(params, defaults), name, len(args), kwargs))
    bound = {each: given[each] for each in names}
    if params.star is not None:
        bound[params.star] = Tuple(tuple(extra))
    if params.double_star is not None:
        bound[params.double_star] = Ref(engine.state.new_cell(DictCell(rest)))
    return bound


def refusal(signature: inspect.Signature, name: str, count: int, keywords: Collection[str]) -> TypeError:
    """The TypeError that Python raises where `count` arguments and these keywords do not fit `name`.

    Python itself says it: a function with these parameters and no body is called.
    """
    bare = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in signature.parameters.values()
    ]
    function = eval(f"lambda {str(inspect.Signature(bare))[1:-1]}: None", {})
    function.__qualname__ = name
    try:
        function(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        return error.with_traceback(None)
    raise AssertionError(f"{name}{signature} takes {count} arguments and {list(keywords)}")


def _signature(params: stage.Parameters, defaults: Collection[str]) -> inspect.Signature:
    of = inspect.Parameter
    kinds = (
        (params.positional_only, of.POSITIONAL_ONLY),
        (params.positional, of.POSITIONAL_OR_KEYWORD),
        ((params.star,) if params.star is not None else (), of.VAR_POSITIONAL),
        (params.keyword_only, of.KEYWORD_ONLY),
        ((params.double_star,) if params.double_star is not None else (), of.VAR_KEYWORD),
    )
    return inspect.Signature(
        [of(n, kind, default=None if n in defaults else of.empty) for names, kind in kinds for n in names]
    )
