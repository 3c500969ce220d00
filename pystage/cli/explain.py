"""`pystage explain`: what becomes of each line of a function, and why what is not staged is not."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..explain.text import as_text
from ..runtime.function import BoundFunction, CompiledFunction
from ..staging import compile
from .targets import declare, target_from


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "explain", help="why a function is not compiled, what is, and how to change it"
    )
    declare(parser)
    parser.add_argument("--all", action="store_true", help="all functions and all of their lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explains one call of a function."""
    target = target_from(options)
    function: Any = target.function
    compiled = function if isinstance(function, CompiledFunction | BoundFunction) else compile(function)
    explanation = compiled.explain(*target.args, **target.kwargs)
    print(as_text(explanation, color=sys.stdout.isatty(), full=options.all))
    return 0 if explanation.staged is not None else 1
