# PYTHON_ARGCOMPLETE_OK
"""The command `pystage`: explains, checks and dumps functions, and reports on the machine.

One module for each subcommand; each has `add`, which declares its arguments, and the function that runs it. The exit
status is 0 for success, 1 for a negative answer (a function that cannot be staged, a finding), 2 for a wrong command line
and for an answer that cannot be written, 141 where its reader has left.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from ..version import __version__
from . import check, doctor, dump, explain
from .completion import complete
from .streams import answering
from .targets import UsageError

MODULES = (explain, check, dump, doctor)
"""The modules of the subcommands, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, by default those of the process; the exit status."""
    try:
        parser = _parser()
        if "_ARGCOMPLETE" in os.environ:
            complete(parser)
        with answering():
            options, unknown = parser.parse_known_args(arguments)
            if unknown:
                options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        runs_script = getattr(options, "script", None) is not None  # which writes as it likes
        if sys.stdout is None and not runs_script:
            raise UsageError("standard output is closed")
        with nullcontext() if runs_script else answering():
            status: int = options.run(options)
    except UsageError as error:
        print(f"pystage: {error}", file=sys.stderr)
        return 2
    return status


class _Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be written."""

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pystage", description="Compiles plain Python functions over arrays.")
    parser.add_argument("--version", action="version", version=f"pystage {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in MODULES:
        module.add(commands)
    for command in commands.choices.values():
        command.set_defaults(parser=command)
    return parser
