"""All independent problems at once: what stands behind a refused line is looked at, and nothing false comes of it."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import collected_cases
import numpy as np
import pytest
from sampling import ALL

import pystage
from explain import programs
from pystage.compiler.diagnostics.codes_calls import UnknownCallable
from pystage.compiler.diagnostics.diagnostic import DiagnosticError
from pystage.compiler.infer.diagnostics.trail import Trail
from pystage.compiler.infer.state.frame import Frame
from pystage.compiler.stage import ir as stage

EACH = 80
"""One program of so many runs in `make test`."""
INSTRUCTIONS = (
    stage.Call,
    stage.Binary,
    stage.Compare,
    stage.Unary,
    stage.GetItem,
    stage.SetItem,
    stage.GetAttr,
    stage.SetAttr,
    stage.Inplace,
    stage.For,
    stage.While,
    stage.With,
)
"""What may be refused."""


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (programs.behind_a_branch, {2: "PS601", 3: "PS606", 5: "PS601", 7: "PS606"}),
        (programs.behind_a_loop, {3: "PS606", 6: "PS601", 8: "PS601"}),
        (programs.behind_a_with, {2: "PS601", 3: "PS606", 5: "PS606"}),
        (programs.behind_a_return, {2: "PS606", 4: "PS601"}),
        (programs.lost_in_a_container, {4: "PS601"}),
        (programs.in_a_pass_that_is_dropped, {4: "PS601", 5: "PS110"}),
    ],
)
def test_all_problems_at_once(function: Any, places: dict[int, str]) -> None:
    """`places`: the codes by line, counted from the function's own."""
    problems = pystage.compile(function).explain(np.ones(4)).problems
    first = function.__code__.co_firstlineno
    assert {p.span.line - first + 1: p.code for p in problems if p.span is not None} == places


def _programs() -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    for module, param in collected_cases.programs("contract"):
        function, args, options = param.values
        if not {"refused", "raises", "staged"} & options.keys():
            yield f"{module}-{param.id}", function, args, options.get("kwargs") or {}


OF_ONE_ALTERNATIVE = {"contract.containers.test_tuples_of_computed_length-beside_none-2"}
"""Programs of which a refused line makes that a value is None or not known; then what None cannot do is told."""


def test_any_line_may_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One instruction of a program is refused: that is the only problem, or what else there is needs the operand's type."""
    refused: list[stage.Instr] = []
    run: dict[stage.Instr, None] = {}
    reach = Trail.reach

    def reached(self: Trail, frame: Frame, instr: stage.Instr) -> None:
        reach(self, frame, instr)
        run[instr] = None
        if instr in refused:
            raise DiagnosticError(UnknownCallable(span=instr.span, name="it", why="it is refused"))

    for number, (name, function, args, kwargs) in enumerate(_programs()):
        if name in OF_ONE_ALTERNATIVE or (not ALL and number % EACH):
            continue
        compiled = pystage.compile(function)
        refused.clear()
        run.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Trail, "reach", reached)
            compiled.explain(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            own = [i for i in run if isinstance(i, INSTRUCTIONS) and "/contract/" in i.span.file]
            if not own:
                continue
            refused.append(random.Random(name).choice(own))
            found = compiled.explain(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            # what is refused in an exception's `__init__` leaves it without attributes, and the read of one is told
            told = ("it is refused", "of an exception that the program has raised")
            assert found.staged is not None or any(text in str(found) for text in told), name
            assert not any(
                p.code == "PS699" or "one thing on one path" in p.headline for p in found.problems
            ), name
