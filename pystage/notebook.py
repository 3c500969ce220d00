"""The magic of IPython and Jupyter: `%load_ext pystage` declares `%pystage` and `%%pystage`."""

from __future__ import annotations

import ast
from typing import Any

from IPython.core.error import UsageError

from .introspection import as_compiled

_USAGE = "write `%pystage explain f(x)`, or `%%pystage explain` over a cell whose last line is a call `f(x)`"


def load_ipython_extension(shell: Any) -> None:
    """Declares the magic in a shell of IPython."""

    def pystage(line: str, cell: str | None = None) -> Any:
        """`%pystage explain f(x)`, or `%%pystage explain` over a cell that ends in a call: explains the call.

        What stands before the call is run; the call is not, only its function and its arguments are evaluated.
        """
        command, _, call = line.strip().partition(" ")
        if command != "explain" or bool(call.strip()) == (cell is not None):
            raise UsageError(_USAGE)
        return _explained(shell, call if cell is None else cell)

    shell.register_magic_function(pystage, magic_kind="line_cell", magic_name="pystage")


def _explained(shell: Any, cell: str) -> Any:
    """Runs a cell up to the call at its end, and explains that."""
    lines = shell.transform_cell(cell).splitlines(keepends=True)
    body = ast.parse("".join(lines)).body
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        raise UsageError(_USAGE)
    if len(body) > 1:
        shell.run_cell("".join(lines[: last.lineno - 1])).raise_error()
    call = last.value
    explains = ast.Call(ast.Name("explains", ast.Load()), [call.func, *call.args], call.keywords)
    expression = ast.fix_missing_locations(ast.Expression(ast.copy_location(explains, call)))
    names = {**shell.user_ns, "explains": lambda f, *args, **kwargs: as_compiled(f).explain(*args, **kwargs)}
    return eval(compile(expression, "<call>", "eval"), names)
