"""The attributes of an instance itself: its dictionary and its filled slots."""

from __future__ import annotations

import types
from typing import Any


def slots_of(cls: type) -> dict[str, Any]:
    """The slot descriptors of a class and its bases, by attribute name."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                found[name] = member
    return found


def instance_fields(value: Any) -> dict[str, Any]:
    """The attributes that an object itself has: its dictionary and its filled slots."""
    fields = dict(getattr(value, "__dict__", {}))
    for name, member in slots_of(type(value)).items():
        try:
            fields[name] = member.__get__(value)
        except AttributeError:  # a slot that was never assigned
            continue
    return fields
