"""`pystage dump`: prints a function's program at one stage, or writes a page that shows all stages side by side."""

from __future__ import annotations

import argparse
import inspect
import sys
from typing import Any

from ..compiler.diagnostics.errors import StagingError
from ..explain.text import assumption
from .explorer import name_of, page
from .programs import Programs, Stage
from .streams import write_file
from .targets import NamedTarget, UsageError, declare, find, target_from


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "dump", help="what a function becomes: the program at each stage, with the source lines"
    )
    declare(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--stage", choices=[stage.value for stage in Stage], default=Stage.TYPED.value, help="default: typed"
    )
    what.add_argument("--html", action="store_true", help="a page that shows all stages side by side")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write; default: the terminal, FUNCTION.html with --html",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Writes the program, or the page."""
    if options.html:
        return _explore(options)
    stage = Stage(options.stage)
    target = _without_arguments(options.target) if stage is Stage.LOWERED else _checked(target_from(options))
    programs = Programs(target)
    try:
        text = str(programs.listing(stage))
    except StagingError as error:
        print(error, file=sys.stderr)
        return 1
    if programs.assumed:
        print(assumption(programs.assumed), file=sys.stderr)
    if options.output is None:
        sys.stdout.write(text)
    else:
        write_file(options.output, text)
    if stage is not Stage.LOWERED and programs.staged.raised is not None:
        told = f"whatever the values are, {programs.staged.takes_and_gives}; `pystage explain` says where"
        print(told, file=sys.stderr)
        return 1
    return 0


def _explore(options: argparse.Namespace) -> int:
    target = _checked(target_from(options))
    made = page(target)
    output = options.output or f"{name_of(target)}.html"
    write_file(output, made.html)
    if made.error is not None:
        print(made.error, file=sys.stderr)
    print(output)
    return 0 if made.error is None else 1


def _without_arguments(name: str) -> NamedTarget:
    """The target where no arguments are needed, because no types are."""
    return NamedTarget(name, find(name).function, (), {})


def _checked(target: NamedTarget) -> NamedTarget:
    """The target, if the arguments are such as the function takes."""
    try:
        inspect.signature(target.function).bind(*target.args, **target.kwargs)
    except TypeError as error:
        raise UsageError(f"{target.name} does not take these arguments: {error}") from None
    return target
