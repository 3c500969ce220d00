"""What pystage costs and gains, measured against JAX in one run: `make bench`, or `python -m benchmarks`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))  # the models are those of the examples
