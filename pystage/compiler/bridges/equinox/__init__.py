"""Equinox: modules are staged from source, as objects whose attributes are writable only during construction.

modules.py   the metaclass and the attribute hooks of modules; filtered functions
trees.py     `equinox.tree_at`
"""

from __future__ import annotations

from ...policy import Package, Policy
from ..bridge import Bridge

EQUINOX = Bridge(
    Package("equinox", Policy.TRACED),
    tested="0.13",
    meanings={"equinox": "bridges.equinox.modules:declare"},
)
