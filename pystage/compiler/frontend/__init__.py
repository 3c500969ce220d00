"""The front end: a Python function to its stage IR, from its source, once per function and without types.

    source.py   function → the text that defines it        build_*.py  syntax tree → stage IR
    parse.py    text → syntax tree with exact places       definite_assignment.py  marks reads of assigned variables
    scope.py    where every variable lives                 jumps.py    removes break, continue, inner return
    fence.py    the table: what becomes of every kind of syntax node

`stage_function` goes all the way, and remembers.
"""

from .entry import stage_function, substituted
from .errors import FrontendError
from .source import find_source

__all__ = ["FrontendError", "find_source", "stage_function", "substituted"]
