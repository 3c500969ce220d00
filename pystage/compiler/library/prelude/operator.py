"""`operator`: functions that make functions of an object."""

from __future__ import annotations

import operator
from typing import Any

from ..kernels.python_implementations import composed


def _only(name: str, objs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The one argument of a call of what `name` has made."""
    if kwargs:
        raise TypeError(f"{name}() takes no keyword arguments")
    if len(objs) != 1:
        raise TypeError(f"{name} expected 1 argument, got {len(objs)}")
    return objs[0]


@composed(operator.itemgetter)
def itemgetter(item: Any, /, *items: Any) -> Any:
    """A function that gives an item, or a tuple of several."""

    def get(*objs: Any, **kwargs: Any) -> Any:
        obj = _only("itemgetter", objs, kwargs)
        return tuple([obj[each] for each in (item, *items)]) if items else obj[item]

    return get


def _attribute(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


@composed(operator.attrgetter)
def attrgetter(attr: Any, /, *attrs: Any) -> Any:
    """A function that gives an attribute, with dots an inner one, or a tuple of several."""
    for each in (attr, *attrs):
        if not isinstance(each, str):
            raise TypeError("attribute name must be a string")

    def get(*objs: Any, **kwargs: Any) -> Any:
        obj = _only("attrgetter", objs, kwargs)
        return tuple([_attribute(obj, each) for each in (attr, *attrs)]) if attrs else _attribute(obj, attr)

    return get


@composed(operator.methodcaller)
def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that calls a method."""
    if not isinstance(name, str):
        raise TypeError("method name must be a string")

    def call(*objs: Any, **named: Any) -> Any:
        return getattr(_only("methodcaller", objs, named), name)(*args, **kwargs)

    return call
