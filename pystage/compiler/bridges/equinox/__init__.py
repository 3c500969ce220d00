"""Equinox: modules are staged from source, as objects that take attributes only while they are made.

modules.py   what the metaclass and the hooks of modules mean; filtered functions
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
