"""Random sequences of operations on dicts and sets with computed keys, against the plain run."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest
from checking import check

KEYS = ["k", "k + 1", "(k, i % 2)", "(i % 3, x)", "x", "float(k)", "-x", "k % 2 == 0"]
DICT = [
    "d[{k}] = {v}",
    "d[{k}] = d.get({k}, 0) + 1",
    "t += d.pop({k}, 0.5)",
    "t += d.setdefault({k}, {v})",
    "t += {k} in d",
    "t = t * 2 + len(d)",
    "del d[{k}]",
    "t += d[{k}]",
    "for v in d.values(): t = t * 0.5 + v",
    "e = d.copy(); e[{k}] = {v}; t += len(e) + (e == d)",
    "d.update({{{k}: {v}}})",
    "e = d",
    "e[{k}] = {v}",
]
SET = [
    "s.add({k})",
    "s.discard({k})",
    "s.remove({k})",
    "t += {k} in s",
    "t = t * 2 + len(s)",
    "r = r | s",
    "r = s & r",
    "r -= s",
    "t += (r <= s) + 2 * (s == r)",
    "r = {{{k}, {k}}}",
    "r = s.copy()",
]


def program(seed: int) -> str:
    """The source of a function of an array, whose loop changes a dict or a set of keys of one kind."""
    rng = random.Random(seed)
    key = rng.choice(KEYS)
    statements = DICT if seed % 2 else SET
    lines: list[str] = []

    def statement(indent: str) -> None:
        text = rng.choice(statements).format(k=key, v=rng.choice(["i", "k * 2"]))
        nested = rng.random()
        raises = text.startswith(("del", "s.remove")) or "= d[" in text
        if raises and rng.random() < 0.8:
            lines.append(f"{indent}try:")
            lines.append(f"{indent}    {text}")
            lines.append(f"{indent}except KeyError:")
            lines.append(f"{indent}    t -= 1")
        elif nested < 0.3:
            lines.append(f"{indent}if x > {rng.randrange(4)}:")
            lines.append(f"{indent}    {text}")
        else:
            lines.append(f"{indent}{text}")

    for _ in range(rng.randrange(2, 6)):
        statement("        ")
    body = "\n".join(lines)
    return (
        "def f(a):\n    t = 0.0\n    d = {}\n    e = {}\n    s = set()\n    r = set()\n"
        f"    for i, x in enumerate(a):\n        k = int(x)\n{body}\n"
        + ("    return t, d, list(d.items()), e, e is d\n" if seed % 2 else "    return t, s, r\n")
    )


def run(seed: int) -> None:
    """Checks one program on two arrays."""
    source = program(seed)
    namespace: dict[str, Any] = {}
    name = f"<table {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), namespace)
    rng = np.random.default_rng(seed)
    a = rng.integers(-2, 4, 8).astype(float)
    try:
        namespace["f"](a)
        error = None
    except KeyError as raised:
        error = type(raised)
    check(namespace["f"], a, raises=error, runs=1, interpreted=False)


@pytest.mark.parametrize("seed", range(4))
def test_random_operations_on_a_dict_or_a_set_are_as_in_the_plain_run(seed):
    run(seed)
