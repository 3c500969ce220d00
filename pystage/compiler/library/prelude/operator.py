"""`operator`: functions that make functions of an object."""

from __future__ import annotations

import operator
from typing import Any

from ..kernels.python_implementations import composed


@composed(operator.itemgetter)
def itemgetter(item: Any, /, *items: Any) -> Any:
    """A function that gives an item, or a tuple of several."""
    if not items:
        return lambda obj: obj[item]
    return lambda obj: tuple([obj[each] for each in (item, *items)])


def _attribute(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


@composed(operator.attrgetter)
def attrgetter(attr: Any, /, *attrs: Any) -> Any:
    """A function that gives an attribute, with dots an inner one, or a tuple of several."""
    if not attrs:
        return lambda obj: _attribute(obj, attr)
    return lambda obj: tuple([_attribute(obj, each) for each in (attr, *attrs)])


@composed(operator.methodcaller)
def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that calls a method."""
    return lambda obj: getattr(obj, name)(*args, **kwargs)
