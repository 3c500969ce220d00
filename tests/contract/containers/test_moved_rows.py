"""Elements put into the middle of lists, and taken out of it: in loops over long lists, where blocks of rows move."""

from __future__ import annotations

import bisect

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check
from passes.programs import whole_arrays
from pystage.compiler import limits

cases = Cases()
RNG = np.random.default_rng(5)
LONG = 3 * limits.MOVED_ROWS + 7


def places(count):
    return RNG.integers(0, 10**6, count).tolist()


SIZES = [2, 40, limits.MOVED_ROWS, limits.MOVED_ROWS + 1, limits.MOVED_ROWS + 2, LONG]


@cases.each(*[([*range(n)], places(n - 1)) for n in SIZES])
def popped(xs, ks):
    taken = []
    for k in ks:
        taken.append(xs.pop(k % len(xs)))
    return taken


@cases.each(*[([x / 4 for x in range(n)], places(n // 2)) for n in SIZES])
def deleted_and_popped_in_front(xs, ks):
    for k in ks:
        if k % 7 == 0:
            xs.pop(0)
        else:
            del xs[k % len(xs)]
    return xs


@cases.each(*[(places(n),) for n in SIZES])
def inserted(ks):
    out = []
    for i, k in enumerate(ks):
        out.insert(k % (len(out) + 3) - 1, i)
    return out


@cases.each((places(LONG),))
def inserted_and_popped(ks):
    pairs = [(0, 0.5)]
    for i, k in enumerate(ks):
        if k % 3 or len(pairs) < 2:
            pairs.insert(k % len(pairs), (i, k / 2))
        else:
            pairs.pop(k % len(pairs))
    return pairs


@cases.each((places(LONG),))
def in_order(ks):
    out = []
    for k in ks:
        bisect.insort(out, k)
    return out


@cases.each(([*range(LONG)], [5, 900, LONG - 3, 7]), raises=IndexError)
def outside_in_the_end(xs, ks):
    for k in ks:
        xs.pop(k)


@cases.each(([1.0, 2.0, 1.0] * 300, [2.0, 1.0, 2.0, 3.0]), raises=ValueError)
def removed(xs, ys):
    for y in ys:
        xs.remove(y)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_moved_rows(function, args, options):
    check(function, *args, **options)


def test_no_list_is_copied_in_a_loop():
    """Though a conditional raise leaves the list as it was."""
    lowered = pystage.compile(popped).lower([*range(LONG)], places(LONG))
    assert whole_arrays(lowered.compile().as_text(), LONG - 1) == []


def growing(x):
    kept, groups, pair = [], [], (1.0,)
    for i in range(len(x)):
        if x[i] > 0.5:
            pair = (x[i],) if len(pair) > 3 else (*pair, x[i])
            kept.append(i)
            groups.append(pair)
    return kept, groups


def test_lists_of_other_lengths_are_read_without_jax(monkeypatch):
    """Which would compile a slice for each length, and look up each row on its own."""
    staged = pystage.compile(growing, tier="compiled", fallback="error")
    first, second = RNG.random(50), RNG.random(50)
    staged(first)
    monkeypatch.setattr(type(jnp.zeros(1)), "__getitem__", None)
    kept, groups = staged(second)
    monkeypatch.undo()
    assert (kept, groups) == growing(second)


def grouped(xs):
    groups = {}
    for i in range(len(xs)):
        groups.setdefault(xs[i] % 50, []).append(i)
    return groups


def test_lists_in_a_dict_do_not_get_room_for_all_of_the_input():
    """Each has twenty elements, more than at first there is room for."""
    xs = np.arange(1_000)
    function = pystage.compile(grouped, fallback="error")
    assert function(xs) == grouped(xs)
    (staged,) = function.dispatcher.staged
    (inner,) = [c.size for c in staged.program.capacities if "lists in a list" in str(c.site)]
    assert 20 <= inner <= 128
