"""Packages that the compiler knows by name, beside Python's library and what pystage is built on.

bridge.py      the class `Bridge`: all that is known of one package
flax/          modules of Linen and NNX
equinox/       modules, filtered functions, `tree_at`
traced.py      packages that need no more than JAX's tracing
scipy.py       the functions that JAX has too; advice for the others
opaque.py      packages of which nothing is staged, with advice

A bridge uses of inference what `infer/interface.py` has, and inference knows of no bridge: importing this package fills
the tables that inference asks. It imports none of the packages, and no meaning before the program imports its package.
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
