"""What becomes of each line of a function, and why what is not staged is not: `explain` and the `Explanation` that it gives.

It runs the compiler's own inference and asks it what it did, so that the two cannot disagree.
"""

from .explanation import Explanation, explain
from .listing import Listing, Mark, SourceLine

__all__ = ["Explanation", "Listing", "Mark", "SourceLine", "explain"]
