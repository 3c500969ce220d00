"""What pystage costs and gains, measured against JAX in one run: `make bench`, or `python -m benchmarks`."""

import sys
from pathlib import Path

_EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path[:0] = [str(_EXAMPLES), str(_EXAMPLES / "models")]  # the models are those of the examples
