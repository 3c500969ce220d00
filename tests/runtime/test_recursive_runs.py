"""Plain runs of compiled recursive functions reach the depth of the plain function, and see what it sees."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import pystage
from pystage.runtime.tiers import DEPTH

pytestmark = pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")

SOURCE = """
def down(n, xs=None):
    if n <= 0:
        return 0.0
    if xs is not None:
        xs.append(n)
    return 1.0 + down(n - 1.5, xs)

def even(n):
    return True if n < 0.5 else odd(n - 1.0)

def odd(n):
    return False if n < 0.5 else even(n - 1.0)

def inner(n):
    def again(k):
        return inner(k)
    return 0 if n <= 0 else 1 + again(n - 1.5) + sum([inner(0.0 * k) for k in range(2)])

class Node:
    def __init__(self, child):
        self.child = child
    def depth(self):
        return 1 if self.child is None else 1 + self.child.depth()
    def attribute(self):
        return self.down
    down = 7

def uses_the_name_twice(n):
    return Node(None).uses_the_name_twice + n if n < 0 else uses_the_name_twice(n - 1.5)

Node.uses_the_name_twice = 5
"""
NAMES = ("down", "even", "odd", "inner", "uses_the_name_twice")
SETTINGS = [
    {"tier": "auto", "fallback": "lazy"},
    {"tier": "auto", "fallback": "python"},
    {"tier": "plain", "fallback": "python"},
    {"tier": "compiled", "fallback": "python"},
    {"tier": "compiled", "fallback": "lazy"},
]
LEVELS = 300
"""Three frames for each would exceed Python's limit of 1,000."""


def modules(tmp_path, settings):
    """The module as it is, and with all functions compiled."""
    path = tmp_path / "recursive.py"
    path.write_text(SOURCE)
    made = []
    for _ in range(2):
        module = types.ModuleType("recursive")
        module.__file__ = str(path)
        exec(compile(SOURCE, str(path), "exec"), vars(module))
        made.append(module)
    for name in NAMES:
        setattr(made[1], name, pystage.compile(getattr(made[1], name), **settings))
    made[1].Node.depth = pystage.compile(made[1].Node.depth, **settings)
    return made


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(s.values()))
def test_depth(tmp_path, settings):
    plain, compiled = modules(tmp_path, settings)
    for module in (plain, compiled):
        module.seen = []
        module.results = (
            module.down(1.5 * LEVELS),
            module.down(30.0, module.seen),
            module.even(float(LEVELS)),
            module.odd(float(LEVELS)),
            module.inner(1.5 * LEVELS // 2),
            module.uses_the_name_twice(4.0),
        )
    assert compiled.results == plain.results
    assert compiled.seen == plain.seen


def test_methods(tmp_path):
    for module in modules(tmp_path, SETTINGS[0]):
        node = None
        for _ in range(LEVELS):
            node = module.Node(node)
        assert node.depth() == LEVELS


def test_a_variable_that_is_rebound(tmp_path):
    """What the variable holds at the time of the call counts."""
    plain, compiled = modules(tmp_path, SETTINGS[0])
    for module in (plain, compiled):
        first = module.down
        assert first(4.5) == 3.0
        module.down = lambda n, xs=None: 10.0
        assert first(4.5) == 11.0
        module.down = first
        assert first(4.5) == 3.0


def test_the_name_of_an_attribute_is_left_alone(tmp_path):
    """A function that uses its own name as an attribute, too, runs as it is."""
    _, compiled = modules(tmp_path, SETTINGS[0])
    assert compiled.uses_the_name_twice(4.0) == 5 - 0.5
    assert compiled.uses_the_name_twice.recursive_runs.function is compiled.uses_the_name_twice.target


def test_copies_go_with_the_function(tmp_path):
    _, compiled = modules(tmp_path, SETTINGS[0])
    compiled.even(float(8 * DEPTH))
    added = [name for name in vars(compiled) if name.startswith("__pystage_")]
    assert added
    for name in NAMES:
        delattr(compiled, name)
    import gc

    gc.collect()
    assert not [name for name in vars(compiled) if name.startswith("__pystage_")]


def test_a_deep_recursion_does_not_end_the_process(tmp_path):
    """Where the user has raised the limit, levels take no stack of the process, as those of plain functions take none."""
    script = tmp_path / "deep.py"
    script.write_text(
        "import sys, pystage\n"
        "sys.setrecursionlimit(10**6)\n"
        "@pystage.compile\n"
        "def down(n):\n"
        "    return 0.0 if n <= 0 else 1.0 + down(n - 1.0)\n"
        "print(down(60000.0))\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "60000.0"), run.stderr[-2000:]
