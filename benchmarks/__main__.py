"""`python -m benchmarks [name …]`: runs the benchmarks of these names, or all and writes the report."""

from __future__ import annotations

import importlib
import sys

from .measuring import Table
from .report import write

NAMES = ("front_end", "program_size", "run_time", "in_place", "call_overhead")


def main(names: list[str]) -> int:
    """Runs benchmarks and prints their tables."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    tables: list[Table] = []
    for name in names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        made = importlib.import_module(f"{__package__}.{name}").measure()
        for table in made:
            print(table.markdown(), flush=True)
        tables += made
    if not names:
        write(tables)
    return 0


sys.exit(main(sys.argv[1:]))
