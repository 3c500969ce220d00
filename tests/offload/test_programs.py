"""Functions with a line that never stages: the rest of them is staged, and they do what the plain ones do."""

import contextlib
import io
import re
import time
from dataclasses import dataclass

import numpy as np
import pytest
from checking import Cases

from offload.running import check_offloaded

cases = Cases()
X = np.array([0.5, -1.0, 2.0, 3.5, -0.25])


@cases(X, regions=2)
def timing_between_loops(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
        x[i] = total
    time.perf_counter()
    for i in range(len(x)):
        total -= x[i]
    return total, x


@cases(X, regions=2)
def timing_in_a_loop(x):
    norms = 0.0
    for k in range(3):
        for i in range(len(x)):
            x[i] = x[i] * 0.5 + k
        time.time()
        for v in x:
            norms += abs(v)
    return norms


@cases.each((X, 3.0), (X, 100.0), regions=1)
def breaks_out_of_a_loop_of_python(x, limit):
    for k in range(10):
        re.search("a", "abc")
        s = 0.0
        for v in x:
            s += v
        x += 1.0
        if s > limit:
            break
    else:
        k = -1
    return k, s


@cases.each((X, 3.0), (X, 100.0), regions=1)
def assigned_where_it_breaks_or_after_the_loop(x, limit):
    for t in range(len(x)):
        time.time()
        if x[t] > limit:
            found = t + x.sum()
            break
        x[t] = np.sqrt(abs(x[t]))
    else:
        found = None
    return found, t


@cases.each((X, 1.0), (X, 100.0), regions=1)
def returns_from_a_loop(x, limit):
    time.time()
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
        x[i] = 0.0
    return None


@cases(X, regions=1)
def continues_a_loop_of_python(x):
    n = 0
    for k in range(4):
        time.time()
        t = 0.0
        for v in x:
            t += v * k
        if t > 8.0:
            continue
        n += 1
    return n, t


@cases.each((X, 3), (X, 0), regions=1)
def assigned_by_some_trips(x, n):
    for i in range(n):
        last = x[i] * 2.0
    time.time()
    return last if n else None


@cases(X, 0, raises=UnboundLocalError, regions=1)
def never_assigned(x, n):
    for i in range(n):
        last = x[i] * 2.0
    time.time()
    return last


@cases(X, raises=UnboundLocalError, regions=0)
def unassigned_by_a_handler_that_a_break_leaves(x):
    error = 0.0
    while True:
        try:
            time.time()
            raise ValueError
        except ValueError as error:
            break
    x[0] += 1.0
    return x * error


@cases(X, regions=1)
def in_an_elif(x):
    time.time()
    if len(x) > 5:
        return None
    elif len(x) > 1:
        time.time()
        for i in range(len(x)):
            x[i] += 1.0
    return x


@cases(X, regions=1)
def handled_in_groups(x):
    try:
        time.time()
        raise ExceptionGroup("all", [ValueError()])
    except* ValueError:
        for i in range(len(x)):
            x[i] += 1.0
    return None


@cases(X, regions=2)
def computed_keys(x):
    found = {}
    for k in range(3):
        s = 0.0
        for v in x:
            s += v
        found[f"{s:.1f}"] = k
        x[0] += 1.0
    return found


@cases(X, 1, regions=1)
@cases(X, 7, raises=IndexError, regions=1)
def raises_in_a_region(x, n):
    time.time()
    for i in range(3):
        x[i] += x[n]
    return x


@cases(X, -1.0, regions=1)
@cases(X, 1.0, regions=1)
def caught_outside(x, limit):
    seen = []
    try:
        time.time()
        for i in range(len(x)):
            x[i] += 1.0
            if x[i] < limit:
                raise ValueError(f"too small: {i}")
    except ValueError as error:
        seen.append(str(error))
    finally:
        seen.append(re.compile(".").pattern)
    return seen, x


@cases(X, regions=0)
def read_by_a_handler(x):
    s = 0.0
    try:
        time.time()
        for v in x:
            s += v
            if s > 1.0:
                raise ValueError
    except ValueError:
        return s
    return None


@cases(X, regions=1)
def under_a_context(x):
    s = 0.0
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for v in x:
            s += v
        print("hidden", file=out)
    for v in x:
        s += v * 2.0
    return s, out.getvalue()


@cases(X, regions=1)
def closures(x):
    scale = 2.0
    time.time()
    s = 0.0
    for v in x:
        s += (lambda a: a * scale)(v)
    return s


@cases(X, regions=1)
def shared_with_a_closure(x):
    count = 0.0

    def add(v):
        nonlocal count
        count += v

    time.time()
    for v in x:
        add(v)
    return count


def numbers(x):
    t = 0.0
    for v in x:
        t += v
    yield t
    x[0] = 1.0
    for v in x:
        t += v
    yield t


@cases(X, regions=1)
def generator(x):
    time.time()
    s = 0.0
    for v in x:
        s += v
    return s, list(numbers(x))


TOTAL = 0.0


@cases(X, regions=1)
def stores_a_global(x):
    global TOTAL
    TOTAL = 0.0
    time.time()
    for v in x:
        TOTAL += v
    return TOTAL


@cases(X, regions=0)
def looks_at_its_variables(x):
    s = 0.0
    for v in x:
        s += v
    return sorted(locals()), s


@cases(X, regions=0)
def under_error_settings(x):
    try:
        with np.errstate(divide="raise"):
            for i in range(len(x)):
                x[i] = np.float64(1.0) / (x[i] - 2.0)
    except FloatingPointError:
        return x
    return None


@cases(X, 2, "b", regions=1)
@cases(X, 1, "a", regions=2)
def branches(x, n, kind):
    if n > 1:
        time.time()
    elif kind == "a":
        for i in range(len(x)):
            x[i] *= n
    else:
        x[0] = 0.0
    for v in x:
        n += v
    return n


class Model:
    __slots__ = ("__rate", "weights")

    def __init__(self, weights):
        self.weights = weights
        self.__rate = 0.5

    def step(self, *values, times=2):
        time.time()
        for _ in range(times):
            for i in range(len(values)):
                self.weights[i] -= self.__rate * values[i]
        assert type(self) is Model
        return self


@cases(Model(X.copy()), 1.0, 2.0, regions=1)
def methods(model, a, b):
    time.time()
    return Model.step(model, a, b, times=3).weights.sum()


@dataclass
class Counter:
    n: int = 0


@cases(Counter(), X, regions=1)
def objects(counter, x):
    with open(__file__) as lines:
        first = lines.readline()
    for v in x:
        if v > 0:
            counter.n += 1
    return first, counter


def helper(x):
    time.time()
    s = 0.0
    for v in x:
        s += v
    return s


@cases(X, regions=1)
def declares_a_variable_that_it_does_not_use(x):
    total = x.sum()
    for v in x:
        total += v
    time.time()
    for i in range(len(x)):

        def rate(w):
            nonlocal total
            return w * 2.0

        x[i] = rate(x[i])
    return total, x


@cases(X, regions=1)
def calls_what_is_cut(x):
    return helper(x) + helper(x * 2.0)


@cases(X, regions=1)
def recursion(x, n=3):
    time.time()
    for i in range(len(x)):
        x[i] += n
    return x.sum() if n == 0 else recursion(x, n - 1)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_residual_program_does_what_the_plain_one_does(function, args, options):
    options.pop("raises", None)
    check_offloaded(function, args, **options)
