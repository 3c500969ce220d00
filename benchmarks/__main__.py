"""`python -m benchmarks [name …]`: runs the benchmarks of these names, or all and writes the report."""

from __future__ import annotations

import sys
from collections.abc import Callable

from . import (
    call_overhead,
    captures,
    checks,
    front_end,
    gradients,
    in_place,
    program_size,
    programs,
    run_time,
    scaling,
)
from .measuring import Table
from .report import write


def calls() -> list[Table]:
    """The table of call overheads."""
    table = Table(
        "Call overhead",
        "One call of a small program, the least of many interleaved repetitions, in the calling thread.",
        ("", "pystage", "`jax.jit`", "ratio", "limit"),
    )
    for case, theirs, ours in call_overhead.measure():
        row = (f"{ours:.1f} µs", f"{theirs:.1f} µs", f"{ours / theirs:.2f}", f"{case.limit:.1f}")
        table.rows.append((case.name, *row))
    return [table]


BENCHMARKS: dict[str, Callable[[], list[Table]]] = {
    "front_end": front_end.measure,
    "program_size": program_size.measure,
    "run_time": run_time.measure,
    "in_place": in_place.measure,
    "call_overhead": calls,
    "captures": captures.measure,
    "checks": checks.measure,
    "programs": programs.measure,
    "scaling": scaling.measure,
    "gradients": gradients.measure,
}


def main(names: list[str]) -> int:
    """Runs benchmarks and prints their tables."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    tables: list[Table] = []
    for name in names or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        made = BENCHMARKS[name]()
        print("\n".join(table.markdown() for table in made), flush=True)
        tables += made
    if not names:
        write(tables)
    return 0


sys.exit(main(sys.argv[1:]))
