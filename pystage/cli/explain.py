"""`pystage explain`: what becomes of each line of a function, and why what is not staged is not."""

from __future__ import annotations

import argparse
from typing import Any

from ..compiler.diagnostics.errors import StagingError
from ..runtime.function import BoundFunction, CompiledFunction
from ..staging import compile
from .targets import declare, target_from


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "explain", help="why a function is not compiled, what is, and how to change it"
    )
    declare(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explains one call of a function."""
    target = target_from(options)
    function: Any = target.function
    compiled = function if isinstance(function, CompiledFunction | BoundFunction) else compile(function)
    try:
        compiled.lower(*target.args, **target.kwargs)
    except StagingError as error:
        print(error)
        return 1
    return 0
