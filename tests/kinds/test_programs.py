"""Operators, methods, indexing, built-ins and stores with `jax.Array`s in place of ndarrays, and mixed with them."""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinds.calls import ARRAYS
from kinds.programs import PROGRAMS
from kinds.running import SAMPLED, Kind, outcome_of

_PER_TEST = 12
CHUNKS = [PROGRAMS[i : i + _PER_TEST] for i in range(0, len(PROGRAMS), _PER_TEST)]
_numbers = itertools.count()


def program(body: str) -> tuple[Callable[..., Any], list[str]]:
    """A function with this body, and the names of its arguments: those that are read before they are assigned."""
    whole = "def program():\n" + textwrap.indent(body, "    ")
    first: dict[str, ast.expr_context] = {}
    nodes = [n for n in ast.walk(ast.parse(whole)) if isinstance(n, ast.Name) and n.id in ARRAYS]
    for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset)):
        first.setdefault(node.id, node.ctx)
    names = sorted([n for n, ctx in first.items() if isinstance(ctx, ast.Load) or n in "xn"])
    source = whole.replace("program()", f"program({', '.join(names)})", 1) + "\n"
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace: dict[str, Any] = {"np": np, "jnp": jnp, "jax": jax, "math": math, "operator": operator}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"], names


@pytest.mark.parametrize("chunk", range(len(CHUNKS)))
@pytest.mark.parametrize("kind", SAMPLED, ids=lambda kind: kind.name)
def test_programs(chunk: int, kind: Kind) -> None:
    found = []
    for number, body in enumerate(CHUNKS[chunk]):
        function, names = program(body)
        choices = [
            *([{name} for name in names] if kind.jax else []),
            *([set(names)] if len(names) > 1 or not kind.jax else []),
        ]
        for chosen in choices:
            args = tuple([kind.of(ARRAYS[n]) if n in chosen else ARRAYS[n].copy() for n in names])
            outcome = outcome_of(function, args, {}, kind, number % _PER_TEST != 3)
            if outcome.is_wrong:
                found.append(f"{body}\nwith {', '.join(sorted(chosen))}: {outcome.text}")
    assert not found, "\n\n".join(found)
