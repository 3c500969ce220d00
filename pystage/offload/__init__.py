"""Partial offload: stages the parts of a function that can be staged, where the whole cannot.

`Offload(fn, compile)` is called like the plain function; what remains in Python is `Offload.residual`.
"""

from .offload import Offload, ResidualProgram

__all__ = ["Offload", "ResidualProgram"]
