"""What lists and dicts hold after an exception between stores into them."""

from __future__ import annotations

import pystage
import pytest
from checking import Cases, check
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops import If

cases = Cases()
N = 40
INTS = [(7 * i) % 31 for i in range(N)]
FLOATS = [i / 8 + 1.0 for i in range(N)]
PAIRS = [(i, i / 2) for i in range(N)]


@cases(FLOATS)
@cases([0.0, *FLOATS], raises=ZeroDivisionError)
@cases([*FLOATS[:30], 0.0, *FLOATS[30:]], raises=ZeroDivisionError)
def divided(xs):
    for i in range(len(xs)):
        xs[i] = 1.0 / xs[i]


@cases(FLOATS, FLOATS[::-1])
@cases([*FLOATS[:30], 0.0, 1.0], FLOATS[:32], raises=ZeroDivisionError)
@cases(FLOATS[:32], [*FLOATS[:30], 0.0, 1.0], raises=ZeroDivisionError)
def into_two(xs, ys):
    for i in range(len(xs)):
        xs[i] = 1.0 / xs[i]
        ys[i] = xs[i] / ys[i]
        xs[i - 1] += ys[i]


@cases(INTS, 3)
@cases(INTS, N - 1, raises=IndexError)
@cases(INTS, -2 * N, raises=IndexError)
def out_of_bounds(xs, step):
    for i in range(len(xs) - 3):
        xs[i] += 1
        xs[i + step] = xs[i] * 2
        xs[-i] -= 1


@cases(PAIRS, 100)
@cases(PAIRS, 20, raises=ValueError)
def of_tuples(pairs, most):
    for i in range(len(pairs)):
        a, b = pairs[i]
        if a > most:
            raise ValueError(f"{a} at {i}")
        pairs[i] = (a + 1, b * 2.0)


@cases([*FLOATS[:30], 0.0, *FLOATS[30:]])
@cases(FLOATS)
def handled(xs):
    seen = 0
    for i in range(len(xs)):
        try:
            xs[i - 1] += 1.0
            xs[i] = 2.0 / xs[i]
            xs[i - 2] = 5.0
        except ZeroDivisionError:
            seen += 1
            xs[i] = -1.0
    return seen


@cases(FLOATS)
@cases([*FLOATS[:30], 0.0, *FLOATS[30:]], raises=ZeroDivisionError)
def appended_and_stored(xs):
    for i in range(len(xs) // 2):
        xs[i] = 2.0 / xs[2 * i]
        xs.append(xs[i])
        xs[i + 1] = 3.0 / xs[2 * i]


class Held:
    def __init__(self, xs):
        self.xs, self.done = xs, 0


@cases(Held([*FLOATS]))
@cases(Held([*FLOATS[:30], 0.0, *FLOATS[30:]]), raises=ZeroDivisionError)
def in_an_object(held):
    for i in range(len(held.xs)):
        held.xs[i] = 2.0 / held.xs[i]
        held.done += 1


@cases(FLOATS, FLOATS[::-1], True)
@cases([*FLOATS[:30], 0.0], FLOATS, True, raises=ZeroDivisionError)
@cases(FLOATS, [*FLOATS[:30], 0.0], False, raises=ZeroDivisionError)
def one_of_two(xs, ys, first):
    zs = xs if first else ys
    for i in range(len(zs)):
        zs[i] = 2.0 / zs[i]
        xs[0] += 1.0


@cases([1.0], FLOATS)
@cases([1.0], [*FLOATS[:30], 0.0, *FLOATS[30:]], raises=ZeroDivisionError)
def appended(out, xs):
    for x in xs:
        out.append(1.0 / x)


@cases([1.0] * 40, FLOATS)
@cases([1.0] * 40, [*FLOATS[:30], 0.0], raises=ZeroDivisionError)
@cases([1.0] * 35, FLOATS * 2, raises=IndexError)
def appended_and_popped(out, xs):
    for i, x in enumerate(xs):
        if i % 3:
            out.append(1.0 / x)
            out.append(x)
        else:
            out[i // 2] = out.pop() / x
            out.pop()
            out.pop()
            out.pop()


@cases({0: 1.0, 1: 2.0, 2: 3.0}, FLOATS)
@cases({0: 1.0, 1: 2.0, 2: 3.0}, [*FLOATS[:30], 0.0, 1.0], raises=ZeroDivisionError)
@cases({0: 1.0, 1: 2.0}, FLOATS, raises=KeyError)
def into_a_dict(table, xs):
    for i in range(len(xs)):
        table[i % 3] += 1.0 / xs[i]
        table[i + 10] = xs[i] / table[i % 3]


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_the_plain_and_the_staged_run_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize(
    ("function", "args"), [(divided, (FLOATS,)), (into_two, (FLOATS, FLOATS)), (of_tuples, (PAIRS, 9))]
)
def test_no_branch_selects_a_list(function, args):
    """XLA would copy it in every trip."""
    assert If not in kinds(pystage.compile(function).staged(*args).function)
