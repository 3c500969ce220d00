"""Runs the whole programs of `examples/scripts/` plain and staged: `python -m programs.scripts [-t SECONDS] [-w] [NAME…]`
(`make scripts`).

Each runs in a process of its own, which may take SECONDS (120): `main`, compiled with `fallback="error"`, must do with the
inputs of two seeds what the plain `main` does. Prints for each program what became of it, what the plain, the first and the
second call took of the processor, and of one that is refused the diagnostics. With `-w` that goes into `RESULTS.md`, too,
where the lines of other programs stay. The exit status is the number of programs that differ.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pystage
from checking import Comparison, compare_runs, run_of

FOLDER = Path(__file__).parents[2] / "examples" / "scripts"
TABLE = FOLDER / "RESULTS.md"
SEEDS = (0, 1)
LONGEST = 10
"""What a first call may take, in seconds of the processor."""
TOLERANCE = 1e-7
"""How far numbers with rounding may differ, which whole programs iterate on."""


@dataclass
class Result:
    """What became of one program: `works`, `refused`, `differs` or `unfinished`; why; seconds of the processor."""

    name: str
    what: str
    why: str = ""
    plain: float | None = None
    first: float | None = None
    second: float | None = None

    def row(self) -> str:
        """The program's line in the table."""
        what = "slow" if self.what == "works" and (self.first or 0) > LONGEST else self.what
        seconds = [f"{x:.3g}" if x is not None else "" for x in (self.plain, self.first, self.second)]
        return f"| {' | '.join([f'`{self.name}`', what, *seconds, self.why])} |"


def load(path: Path) -> ModuleType:
    """The program as a module; it runs nothing when imported."""
    name = f"scripts_{path.stem}"
    if (module := sys.modules.get(name)) is not None:
        return module
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _timed(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, float]:
    start = time.process_time()
    return run_of(function, args, {}), time.process_time() - start


def run(path: Path) -> Result:
    """What becomes of a program in this process."""
    program = load(path)
    result = Result(path.stem, "works")
    staged = pystage.compile(program.main, fallback="error")
    pystage.compile(lambda x: x + 1.0)(np.ones(3))  # JAX starts
    try:
        for number, seed in enumerate((SEEDS[0], *SEEDS)):
            args = program.inputs(seed)
            plain, seconds = _timed(program.main, args)
            run, took = _timed(staged, args)
            if number == 0:
                result.plain, result.first = seconds, took
            elif number == 1:
                result.second = took
            compare_runs(plain, run, Comparison(TOLERANCE), f"seed {seed}", str(path))
    except pystage.StagingError as error:
        result.what, result.why = "refused", _causes(error)
    except AssertionError as error:
        result.what, result.why = "differs", f"{_flat(str(error))} {error.__cause__ or ''}".strip()
    return result


def _causes(error: pystage.StagingError) -> str:
    """The diagnostics of a refusal in one line: codes, lines, what is refused and what led there."""
    causes = []
    for diagnostic in error.diagnostics:
        line = f" line {diagnostic.span.line}" if diagnostic.span is not None else ""
        notes = [note.text for note in diagnostic.notes[:1]]
        causes.append(f"{diagnostic.code}{line}: {_flat('; '.join([diagnostic.headline, *notes]))}")
    return "<br>".join(dict.fromkeys(causes))


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def run_apart(path: Path, seconds: float) -> Result:
    """What becomes of a program in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, "--here", path.stem]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return Result(path.stem, "unfinished", f"more than {seconds:g} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        return Result(path.stem, "differs", f"ended with {done.returncode}: {_flat(done.stderr[-300:])}")
    return Result(**json.loads(lines[-1].removeprefix(MARK)))


MARK = "@@"
"""What the line of a process begins with that has the result."""

HEAD = """# What became of the programs

Written by `make scripts`, which runs each `main` plain and with `pystage.compile(main, fallback="error")`: `works` does what
the plain run does, with the inputs of two seeds; `slow` does so, but its first call takes more than 10 s; `refused` has the
diagnostics beside it. Seconds of the processor of one call: plain, staged for the first time, and for the second time.

| program | | plain | first | second | why |
| --- | --- | --- | --- | --- | --- |
"""


def write(results: list[Result], table: Path) -> None:
    """Puts the lines of these programs into the table, and how many there are of each kind above it."""
    lines = table.read_text(encoding="utf-8").splitlines() if table.exists() else []
    rows = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    rows |= {result.name: result.row() for result in results}
    counts = Counter(row.split("|")[2].strip() for row in rows.values())
    counted = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    body = "\n".join(rows[name] for name in sorted(rows))
    table.write_text(f"{HEAD}{body}\n\nOf {len(rows)} programs: {counted}.\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Runs programs as the module says."""
    parser = argparse.ArgumentParser(prog="python -m programs.scripts")
    parser.add_argument("-t", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("-w", action="store_true", help="write RESULTS.md")
    parser.add_argument(
        "--here", action="store_true", help="one program, in this process; its result as JSON"
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(argv)
    names = options.names or sorted(path.stem for path in FOLDER.glob("*.py"))
    if options.here:
        print(MARK + json.dumps(asdict(run(FOLDER / f"{names[0]}.py"))))
        return 0
    compileall.compile_dir(Path(pystage.__file__).parent, quiet=1)  # as for an installed package
    results = []
    for name in names:
        results.append(run_apart(FOLDER / f"{name}.py", options.t))
        print(results[-1].row(), flush=True)
        if options.w:
            write(results, TABLE)
    print(Counter(result.what for result in results))
    return sum(result.what == "differs" for result in results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
