"""`explain`: shows what became of each line of a function, and why a line is not staged.

It runs the compiler's own inference and records what it did, so that the two cannot disagree.
"""

from .explanation import Explanation, explain
from .listing import Listing, Mark, SourceLine

__all__ = ["Explanation", "Listing", "Mark", "SourceLine", "explain"]
