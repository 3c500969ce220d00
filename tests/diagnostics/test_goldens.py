"""Each error as the user meets it: one small source file, called staged, and the text that it gives.

A file defines `f` and the `arguments` of the call, and where the help of the error proposes a rewrite, the
function `rewritten`, which must stage and give what `f` gives in plain Python where that does not raise, or the function
`alternative`, which must stage and gives something else. Its arguments are the same, or `alternative_arguments`. Without
`arguments`, each parameter of `f` gets the number 1.0.
"""

from __future__ import annotations

import copy
import inspect
import re
from bdb import BdbQuit
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest
from checking import check

import pystage

from .goldens import GOLDENS, OF_CHECK, compare, load

FILES = sorted(
    path
    for path in GOLDENS.glob("PS[1-8]xx/*.py")
    if path.stem not in ("__init__", "programs") and not path.stem.startswith(OF_CHECK)
)
REWRITTEN = [path for path in FILES if re.search("^def (rewritten|alternative)\\(", path.read_text(), re.M)]


def arguments_of(module: ModuleType) -> tuple[Any, ...]:
    given = getattr(module, "arguments", None)
    return copy.deepcopy(given) if given is not None else (1.0,) * len(inspect.signature(module.f).parameters)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    module = load(path)
    staged = pystage.compile(module.f, fallback="error")
    with pytest.raises(pystage.StagingError) as error:
        staged(*arguments_of(module))
    diagnostics = error.value.diagnostics
    if path.stem.startswith("PS"):
        assert {d.code for d in diagnostics} == {path.stem.partition("_")[0]}
    assert all(d.span is not None for d in diagnostics), "a diagnostic without a place"
    compare(path.with_suffix(".txt"), diagnostics, path.parent)


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda path: path.stem)
def test_the_rewrite_that_the_help_proposes_works(path: Path) -> None:
    module = load(path)
    arguments = getattr(module, "alternative_arguments", None) or arguments_of(module)
    works = getattr(module, "rewritten", None) or module.alternative
    check(works, *arguments, runs=1, interpreted=False)


GIVING_THE_SAME = [path for path in REWRITTEN if "\ndef rewritten(" in path.read_text()]


@pytest.mark.parametrize("path", GIVING_THE_SAME, ids=lambda path: path.stem)
def test_a_rewrite_gives_the_same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = load(path)
    try:
        with np.errstate():  # one of them sets how errors are handled
            given = module.f(*arguments_of(module))
    except (Exception, BdbQuit):
        return  # it is rewritten because of that
    other = load(path).rewritten(*arguments_of(module))
    leaves, others = jax.tree.leaves(given), jax.tree.leaves(other)
    assert len(leaves) == len(others)
    for one, two in zip(leaves, others):
        assert np.shape(one) == np.shape(two)
        assert np.array_equal(one, two) or np.allclose(one, two, equal_nan=True)


TEXTS = sorted(GOLDENS.glob("PS*/*.txt"))
JARGON = re.compile(
    r"%\w+|PyTreeDef|\b(?:abstract value|tracer?|traced|SSA|IR|HLO|fixpoint|lattice|phi|Unknown|unknown|cells?)\b|φ|"
    r"\b(?:[suf]\d+|pred|bf16)\[(?![^\]\n]*[:'a-z])"
)
"""What a user of NumPy need not know, and names that only the compiler has."""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_words_are_those_of_a_user(path: Path) -> None:
    told = [line for line in path.read_text().splitlines() if line.startswith(("error", "why", "help"))]
    wrong = [
        found.group() for line in told for found in JARGON.finditer(line.replace("(or a notebook cell)", ""))
    ]
    assert not wrong


def test_there_are_goldens_of_the_interesting_shapes() -> None:
    assert len(FILES) > 225 and len(REWRITTEN) > 150
