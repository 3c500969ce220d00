"""The front end: from a Python function to its untyped stage IR, once per function.

    source.py               function → the syntax tree that defines it, with positions in its file
    scope.py                storage class of every variable
    fence.py                the table that says for each kind of syntax node how it is built or why it is refused
    build_*.py              syntax tree → stage IR
    definite_assignment.py  marks reads of assigned variables
    jumps.py                removes break, continue and inner return

`stage_function` runs all of them, and caches the result.
"""

from .entry import stage_function, substituted
from .errors import FrontendError
from .source import find_source

__all__ = ["FrontendError", "find_source", "stage_function", "substituted"]
