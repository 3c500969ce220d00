"""Bridges: packages that the compiler knows by name, besides Python's library and its own dependencies.

bridge.py      the class `Bridge`: the policy, version and declarations of one package
flax/          modules of Linen and NNX
equinox/       modules, filtered functions, `tree_at`
traced.py      packages whose functions JAX traces
scipy.py       functions that JAX has too; advice for the others
opaque.py      packages that are refused, with advice

A bridge uses inference through `infer/interface.py` only, and inference knows no bridge: importing this package fills
the tables that inference consults. It imports none of the packages; meanings are imported once the program imports its
package.
"""

from __future__ import annotations

from .bridge import Bridge
from .equinox import EQUINOX
from .flax import FLAX
from .opaque import OPAQUE
from .scipy import SCIPY
from .traced import TRACED

BRIDGES: tuple[Bridge, ...] = (FLAX, EQUINOX, *TRACED, SCIPY, *OPAQUE)

for _bridge in BRIDGES:
    _bridge.register()
