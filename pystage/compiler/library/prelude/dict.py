"""Methods of dicts, of arguments that are objects."""

from __future__ import annotations

from typing import Any


def store_mapping(self: Any, mapping: Any) -> None:
    """`self.update(mapping)`, of what has a method `keys`."""
    for key in mapping.keys():  # noqa: SIM118 (this is what `update` calls)
        self[key] = mapping[key]
