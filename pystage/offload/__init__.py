"""Partial offload: of a function that cannot be staged as a whole, the parts that can be run staged.

`Offload(fn, compile)` is called like the plain function; what remains in Python is `Offload.residual`.
"""

from .offload import Offload, ResidualProgram

__all__ = ["Offload", "ResidualProgram"]
