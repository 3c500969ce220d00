"""`pystage explain`: what becomes of each line of a function, why what is not staged is not, what a program does."""

from __future__ import annotations

import argparse
import difflib
import re
import runpy
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from ..compiler.diagnostics.catalogue import codes, page_of
from ..compiler.diagnostics.terminal import columns_of, takes_color
from ..explain.running import report, watching_calls
from ..explain.text import as_json, as_text
from ..runtime.function import BoundFunction, CompiledFunction
from ..staging import compile
from .targets import UsageError, declare, target_from, users_traceback

_CODE = re.compile(r"PS\d{3}")


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "explain",
        help="why a function is not compiled, what is, and how to change it",
        usage="pystage explain TARGET [options] | pystage explain PS301 | pystage explain --run script.py [args…]",
    )
    declare(parser, optional=True)
    parser.add_argument("--all", action="store_true", help="all functions and all of their lines")
    parser.add_argument("--short", action="store_true", help="one line for each problem")
    parser.add_argument("--json", action="store_true", help="the explanation as JSON")
    parser.add_argument(
        "--run",
        dest="script",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT",
        help="run a script with its arguments, and report at the end what was compiled",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explains one call of a function, a code, or what a script does."""
    if options.script:
        return _run_script(Path(options.script[0]), options.script[1:])
    if options.target is None:
        raise UsageError(
            "name a function (module:function, path/file.py::function), a code, or a script (--run)"
        )
    if _CODE.fullmatch(options.target.upper()):
        return _print_page(options.target.upper())
    target = target_from(options)
    function: Any = target.function
    compiled = function if isinstance(function, CompiledFunction | BoundFunction) else compile(function)
    try:
        explanation = compiled.explain(*target.args, **target.kwargs)
    except TypeError as error:  # the arguments do not fit the parameters
        raise UsageError(str(error)) from None
    if options.json:
        print(as_json(explanation))
    else:
        color, width = takes_color(sys.stdout), columns_of(sys.stdout)
        print(as_text(explanation, color=color, width=width, full=options.all, short=options.short))
    return 0 if explanation.staged is not None and not explanation.problems else 1


def _print_page(code: str) -> int:
    """Prints the page of a code."""
    page = page_of(code)
    if page is None:
        near = difflib.get_close_matches(code, codes(), 3)
        raise UsageError(f"there is no code {code}; there is {', '.join(near)}")
    if takes_color(sys.stdout):
        Console(width=columns_of(sys.stdout)).print(Markdown(page))
    else:
        print(page.rstrip())
    return 0


def _run_script(script: Path, arguments: list[str]) -> int:
    """Runs a script as Python would, then reports. The exit status is the script's, 1 if it raises."""
    if not script.is_file():
        raise UsageError(f"there is no file {script}")
    before, sys.argv = sys.argv, [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    status = 0
    try:
        with watching_calls():
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except KeyboardInterrupt:
        status = 130
    except Exception as error:
        print(users_traceback(error), file=sys.stderr)
        status = 1
    finally:
        sys.argv = before
    sys.stdout.flush()
    print(
        f"\n── pystage: what became of {script}\n\n{report(color=takes_color(sys.stderr))}", file=sys.stderr
    )
    return status
