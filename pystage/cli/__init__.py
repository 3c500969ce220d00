"""The command `pystage`: what becomes of a function, why it was not compiled, and what this machine has.

One module for each subcommand; each has `add`, which declares its arguments, and what runs it. The exit status is 0
where all is well, 1 where the answer is that something is not (a function that cannot be staged, a finding), 2 for
what the user asked wrongly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from . import check, doctor, dump, explain
from .targets import UsageError

MODULES = (explain, check, dump, doctor)
"""The modules of the subcommands, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, by default those of the process; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except UsageError as error:
        print(f"pystage: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pystage", description="Compiles plain Python functions over arrays."
    )
    parser.add_argument("--version", action="version", version=f"pystage {version('pystage')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in MODULES:
        module.add(commands)
    return parser
