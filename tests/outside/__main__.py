"""`python -m outside [--lazy] [--out FOLDER] [module …]`: runs NumPy's tests, prints what became of them, and what differs.

`--to FOLDER` keeps the lines of JSON of each module; `--read FOLDER` reads them in place of running.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from outside.modules import MODULES, missing, run_module
from outside.results import Results, differences, read, table


def main() -> None:
    """Runs the modules that are named, or all."""
    parser = argparse.ArgumentParser("python -m outside")
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    parser.add_argument("--lazy", action="store_true", help="on lazy tensors in place of staged")
    parser.add_argument("--to", type=Path, help="a folder that keeps the lines of JSON")
    parser.add_argument("--read", type=Path, help="a folder with lines of JSON, read in place of running")
    chosen = parser.parse_args()
    why = missing()
    if why is not None:
        print(f"skipped: {why}")
        return
    folder = chosen.read or chosen.to or Path(tempfile.mkdtemp(prefix="outside-"))
    found: dict[str, Results] = {}
    for module in chosen.modules:
        out = folder / f"{module.replace('/', '.')}.jsonl"
        if chosen.read is None:
            run_module(module, out, lazily=chosen.lazy)
        if out.exists():
            found[module] = read(out)
    print("\n".join(differences(found)))
    print("\n".join(table(found)))


main()
