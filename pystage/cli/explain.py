"""`pystage explain`: shows what became of each line of a function, why a line is not staged, and what a program does."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from json import dumps
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from ..compiler.diagnostics.catalogue import codes, examples_of, page_of
from ..compiler.diagnostics.diagnostic import REGISTRY
from ..compiler.diagnostics.terminal import columns_of, takes_color
from ..explain import Mark, run_reports
from ..explain.text import as_json, as_text
from ..introspection import as_compiled
from . import package
from .scripts import Script, script_of
from .streams import replacing, write_file
from .targets import UsageError, declare, target_from

_CODE = re.compile(r"PS\d{3}")

MEANINGS = {
    Mark.STAGED: "a part of the program, which works on what only the run knows",
    Mark.CONSTANT: "done once while compiling; costs nothing in a call",
    Mark.UNROLLED: "a loop of which the program has each of the n trips, or what is known in each; a staged loop is one",
    Mark.JAX: "calls a function that JAX traces, as a part of the program",
    Mark.REFUSED: "refused, or needs something that is",
    Mark.RAISES: "raises whenever the program gets there",
    Mark.SKIPPED: "no path leads there with these arguments",
    Mark.UNKNOWN: "stands behind what is refused, or no path leads there",
}
"""What the help says of the marks."""


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "explain",
        help="why a function is not compiled, what is, and how to change it",
        usage="pystage explain TARGET [options] | pystage explain FOLDER | pystage explain PS301 | "
        "pystage explain --run script.py [args…]",
        epilog="\n".join(["what stands beside a line:", *_legend()]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
        help="run what `python SCRIPT` runs, also a folder or -m MODULE, and report at its end what was compiled",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write; default: the terminal")
    parser.set_defaults(run=run)


def _legend() -> Iterator[str]:
    """A line for each mark."""
    for mark, meaning in MEANINGS.items():
        name = f"{mark.value} ×n" if mark is Mark.UNROLLED else mark.value
        yield f"  {name:<15} {meaning}"


def run(options: argparse.Namespace) -> int:
    """Explains one call of a function, a code, or what a script does."""
    if options.script is not None:
        return _run_script(options)
    if options.target is None:
        raise UsageError(
            "name a function (module:function, path/file.py::function), a code, or a script (--run)"
        )
    if _CODE.fullmatch(options.target.upper()):
        return _page(options, options.target.upper())
    if f"PS{options.target}" in codes():
        raise UsageError(f"{options.target} names no function; the code is PS{options.target}")
    if package.is_package(options.target):
        return _package(options)
    target = target_from(options)
    try:
        explanation = as_compiled(target.function).explain(*target.args, **target.kwargs)
    except TypeError as error:  # the arguments do not fit the parameters
        raise UsageError(str(error)) from None
    if options.json:
        _answer(options, as_json(explanation))
    elif options.output:
        _answer(options, as_text(explanation, full=options.all, short=options.short))
    else:
        color, width = takes_color(sys.stdout), columns_of(sys.stdout)
        print(as_text(explanation, color=color, width=width, full=options.all, short=options.short))
    return 0 if explanation.staged is not None and not explanation.problems else 1


def _package(options: argparse.Namespace) -> int:
    """Writes what becomes of the functions of a package; 1 if one of them is not compiled."""
    summary = package.summary_of(options.target)
    if options.json:
        _answer(options, dumps(package.as_data(summary), indent=2))
    else:
        color, width = takes_color(sys.stdout) and not options.output, columns_of(sys.stdout) or 110
        _answer(options, package.as_text(summary, full=options.all, color=color, width=width))
    return 1 if summary.reasons or summary.not_imported else 0


def _answer(options: argparse.Namespace, text: str) -> None:
    """Writes an answer to where the user wants it."""
    if options.output:
        write_file(options.output, f"{text}\n")
    else:
        print(text)


def _page(options: argparse.Namespace, code: str) -> int:
    """Writes the page of a code."""
    page = page_of(code)
    if page is None:
        near = difflib.get_close_matches(code, codes(), 3)
        raise UsageError(f"there is no code {code}; there is {', '.join(near)}")
    if options.json:
        name = REGISTRY[code].__name__
        examples = [asdict(example) for example in examples_of(code)]
        _answer(options, dumps({"code": code, "name": name, "page": page, "examples": examples}, indent=2))
    elif takes_color(sys.stdout) and not options.output:
        Console(width=columns_of(sys.stdout)).print(Markdown(page))
    else:
        _answer(options, page.rstrip())
    return 0


def _run_script(options: argparse.Namespace) -> int:
    """Runs a script as Python does, and reports after what else runs at exit. The exit status is the script's."""
    script, here = script_of(options.script), os.getcwd()
    stderr = sys.stderr or io.StringIO()  # none where it is closed
    output = options.output and os.path.abspath(options.output)
    if output:
        write_file(output, "")
    run_reports.watch_calls()
    color = takes_color(stderr) and not output
    atexit.register(_report, script, here, stderr, output, options.json, color)
    return script.run()


def _report(script: Script, here: str, stderr: Any, output: str | None, json: bool, color: bool) -> None:
    """Tells what a script did, in the file `output` or on standard error."""
    # What goes wrong with the script's own output Python tells at the very end.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
    if json:
        text = dumps(
            {"script": script.name, "arguments": script.arguments, **run_reports.as_data()}, indent=2
        )
    else:
        text = f"\n── pystage: what became of {script.name}\n\n{run_reports.as_text(script.module, here, color=color)}"
    with contextlib.suppress(OSError, ValueError), replacing(stderr):  # nobody may read it
        try:
            if output:
                write_file(output, f"{text.lstrip()}\n")
            else:
                print(text, file=stderr)
        except UsageError as error:
            print(f"pystage: {error}", file=stderr)
