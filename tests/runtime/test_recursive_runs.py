"""Plain runs of compiled recursive functions reach the depth of the plain function, and see what it sees."""

from __future__ import annotations

import gc
import subprocess
import sys
import types
import weakref

import pytest

import pystage
from pystage.runtime.recursive_runs import _is_only_called, _Use
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


@pytest.fixture(autouse=True)
def tiers_as_given(monkeypatch):
    """Each function has its own tier."""
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)


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
            module.inner(30.0),
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
    gc.collect()
    assert not [name for name in vars(compiled) if name.startswith("__pystage_")]


PROGRAMS = {
    "attributes of the function": """
@compiled
def f(n):
    f.calls += 1
    if n in f.cache:
        return f.cache[n]
    f.cache[n] = r = n if n < 2 else f(n - 1) + f(n - 2)
    return r
f.calls, f.cache = 0, {}
results = [f(9), f.calls, dict(f.cache), f(12), f.calls]
f.calls, f.cache = 100, {}
results += [f(5), f.calls, dict(f.cache)]
""",
    "attributes of a method": """
class A:
    @compiled
    def m(self, n):
        A.m.calls += 1
        return self.m.calls if n == 0 else self.m(n - 1)
A.m.calls = 0
results = [A().m(3), A().m(3), A.m.calls]
""",
    "which object it is": """
def same(g):
    return g is f
@compiled
def f(n, seen):
    seen[f] = seen.get(f, 0) + 1
    return (same(f), f) if n == 0 else f(n - 1, seen)
seen = {}
results = [(r[0], r[1] is f, len(seen), seen[f]) for r in (f(3, seen), f(0, seen), f(3, seen))]
""",
    "equal methods": """
class A:
    @compiled
    def m(self, n, other):
        if n == 0:
            return other == self.m, other != self.m, hash(other) == hash(self.m), self.m in {other: 1}
        return self.m(n - 1, other)
a = A()
results = [a.m(3, a.m), a.m(3, a.m), a.m(3, A().m)]
""",
    "closures": """
def make(k):
    count = 0
    @compiled
    def f(n):
        nonlocal count
        count += 1
        return k if n <= 0 else k + f(n - 1)
    return f, lambda: count
f, count = make(1)
g, _ = make(10)
results = [f(3), count(), g(3), f(9), count()]
""",
    "free variables that are rebound": """
def make():
    @compiled
    def g(n):
        return n + 1
    @compiled
    def f(n):
        return g(0) if n == 0 else h(n - 1)
    @compiled
    def h(n):
        return f(n)
    def rebind():
        nonlocal g
        g = lambda n: n + 100
    def rebind_more():
        nonlocal h
        h = lambda n: -1
    return f, rebind, rebind_more
f, rebind, rebind_more = make()
results = [f(3), f(30)]
rebind()
results += [f(3), f(30)]
rebind_more()
results += [f(3), f(30)]
""",
    "what runs later": """
@compiled
def f(n):
    return -1 if n < 0 else lambda: f(-1)
@compiled
def g(n):
    return -1 if n < 0 else (g(-1) for _ in range(2))
@compiled
def h(n):
    yield n
    if n > 0:
        yield from h(n - 1)
f(3), list(g(3)), list(h(3))
later, items, steps = f(3), g(3), h(3)
f = g = lambda n: 55
results = [later(), list(items), next(steps)]
h = lambda n: [77]
results += list(steps)
""",
    "held arguments": """
import functools
def f(n, k):
    return k if n <= 0 else k + g(n - 1)
g = compiled(functools.partial(f, k=3))
results = [g(3), g(3)]
""",
    "other defaults": """
@compiled
def f(n, *, k=1):
    return k if n <= 0 else k + f(n - 1)
results = [f(3)]
getattr(f, "__wrapped__", f).__kwdefaults__ = {"k": 10}
results += [f(3)]
""",
}
"""Programs that make `results` with functions that are compiled, or not."""


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(s.values()))
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_plain_run_sees(tmp_path, name, settings):
    if name == "other defaults" and settings == SETTINGS[4]:
        pytest.skip("a residual program keeps the defaults that it was made for")
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    results = []
    for compiled in (lambda f: f, lambda f: pystage.compile(f, **settings)):
        variables = {"compiled": compiled, "__name__": "program"}
        exec(compile(PROGRAMS[name], str(path), "exec"), variables)
        results.append(variables["results"])
    assert results[1] == results[0]


def test_calls_and_nothing_else(tmp_path):
    """Python's versions compile calls in different ways: all are recognised, and nothing else is."""
    source = """
def call(f, a, b): return lambda: f(1) + f(*a, **b)(f(2), k=[f(y) for y in a])
def whole(f, a, b): return lambda: f
def attribute(f, a, b): return lambda: f.a(1)
def item(f, a, b): return lambda: f[0](1)
def either(f, a, b): return lambda: (f or a)(1)
def argument(f, a, b): return lambda: map(f, a)
def function(f, a, b): return lambda: lambda: f(1)
def generator(f, a, b): return lambda: sum(f(y) for y in a)
def first(f, a, b): return lambda: f + f(1)
"""
    path = tmp_path / "calls.py"
    path.write_text(source)
    variables: dict = {}
    exec(compile(source, str(path), "exec"), variables)
    found = []
    for name in [name for name, value in variables.items() if isinstance(value, types.FunctionType)]:
        made = variables[name](None, None, None)
        cell = made.__closure__[made.__code__.co_freevars.index("f")]
        if _is_only_called(_Use(made, "f", None, cell)):
            found.append(name)
    assert found == ["call"]


def test_a_namespace_is_freed(tmp_path):
    _, compiled = modules(tmp_path, SETTINGS[2])
    assert compiled.down(3.0) == 2.0
    assert [name for name in vars(compiled) if name.startswith("__pystage_")]
    node = weakref.ref(compiled.Node)
    del compiled, _
    gc.collect()
    assert node() is None


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
