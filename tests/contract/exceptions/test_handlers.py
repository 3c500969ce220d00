"""`try` around what raises under conditions of the run time: handlers, `else`, `finally`, and what they see."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage.runtime.reports.warnings import FallbackWarning

cases = Cases()

ROW = np.array([1.0, 2.0, 4.0, 8.0])
INSIDE, OUTSIDE = 2, 7


class Rejected(Exception):
    """An exception of the program's own."""


class Refused(Rejected):
    """One of a class below."""


def element(row, i):
    return float(row[i])


def checked(x, limit):
    if x > limit:
        raise Rejected("above", x)
    if x < -limit:
        raise Refused(f"below: {x:.1f}")
    return x * 2.0


# ---------------------------------------------------------------- handlers


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def a_default(row, i):
    try:
        x = float(row[i])
    except IndexError:
        x = -1.0
    return x


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def returns_from_both(row, i):
    try:
        return float(row[i])
    except IndexError:
        return 0.5


@cases.each((1.0, 2.0), (1.0, 0.0), (-1.0, 1.0), (1e300, 1e-300))
def by_class(x, y):
    try:
        q = math.sqrt(x) / y
        r = math.exp(q)
    except ZeroDivisionError:
        r = 1.0
    except ValueError:
        r = 2.0
    except OverflowError:
        r = 3.0
    return r


@cases.each((0.5,), (2.0,), (-2.0,))
def by_hierarchy(x):
    try:
        y = checked(x, 1.0)
    except Refused:
        y = 10.0
    except Rejected:
        y = 20.0
    return y


@cases.each((0.5,), (2.0,), (-2.0,))
def a_base_class_comes_first(x):
    try:
        y = checked(x, 1.0)
    except Exception:
        y = 10.0
    return y


@cases.each((0.5,), (2.0,), (-2.0,))
def a_tuple_of_classes(x):
    try:
        y = checked(x, 1.0)
    except (KeyError, Refused):
        y = 10.0
    except (ValueError, Rejected):
        y = 20.0
    return y


@cases(0.5)
@cases(2.0, raises=Rejected)
@cases(-2.0)
def not_every_class(x):
    y = 0.0
    try:
        y = checked(x, 1.0)
    except Refused:
        y = 10.0
    return y


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def anything(row, i):
    try:
        x = float(row[i])
    except:  # noqa: E722
        x = 3.0
    else:
        x += 100.0
    return x


@cases(2.0, 1.0)
@cases(2.0, 0.0, raises=ZeroDivisionError)
def else_is_not_protected(x, y):
    try:
        z = checked(x, 5.0)
    except ZeroDivisionError:
        z = 1.0
    else:
        z = z / y
    return z


# ---------------------------------------------------------------- the exception


@cases.each((ROW, INSIDE), (ROW, OUTSIDE), (ROW, -9))
def its_text(row, i):
    try:
        x = float(row[i])
    except IndexError as e:
        print("failed:", e, repr(e), str(e), f"{e!s:>60}")
        x = 0.0
    return x


@cases.each((0.5,), (2.0,), (-2.0,))
def text_of_several(x):
    try:
        y = checked(x, 1.0)
    except Rejected as e:
        print(e, [e], isinstance(e, Exception))
        y = -1.0
    return y


@cases.each((0.5,), (2.0,), (-2.0,), (9.0,))
def its_class(x):
    kind = 0
    try:
        y = checked(x, 1.0) if x < 5.0 else 1.0 / (x - 9.0)
    except Exception as e:
        print(type(e).__name__, "-", e)
        if isinstance(e, Refused):
            kind = 1
        elif isinstance(e, ArithmeticError):
            kind = 2
        y = 0.0
    return y, kind


@cases.each((3.0,), (30.0,))
def its_arguments(x):
    try:
        if x > 5:
            raise ValueError("too large", x, (x * 2, 3))
        y = x
    except ValueError as e:
        text, value, (double, three) = e.args
        print(text, len(e.args))
        y = value + double + three
    return y


@cases(0.5)
@cases(2.0, raises=Rejected)
@cases(-2.0, raises=Refused)
def raised_again(x):
    try:
        y = checked(x, 1.0)
    except Rejected:
        print("seen")
        raise
    return y


@cases(0.5)
@cases(2.0, raises=Rejected)
@cases(-2.0, raises=Refused)
def raised_again_by_name(x):
    try:
        y = checked(x, 1.0)
    except Rejected as e:
        raise e
    return y


@cases(ROW, INSIDE)
@cases(ROW, OUTSIDE, raises=KeyError)
def raised_from(row, i):
    try:
        return float(row[i])
    except IndexError as e:
        raise KeyError(i, str(e)) from e


@cases(ROW, INSIDE, 1.0)
@cases(ROW, OUTSIDE, 1.0)
@cases(ROW, OUTSIDE, 0.0, raises=ZeroDivisionError)
def handlers_raise(row, i, d):
    try:
        x = float(row[i])
    except IndexError:
        x = 1.0 / d
    return x


# ---------------------------------------------------------------- what handlers see


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def variables_as_they_were(row, i):
    x = y = z = 0.0
    try:
        x = 1.0
        y = float(row[i])
        z = 3.0
    except IndexError:
        x += 10.0
        y += 20.0
        z += 30.0
    return x, y, z


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def arrays_as_they_were(row, i):
    own = np.zeros(4)
    try:
        row[0] = 7.0
        own[0] = 1.0
        own[1] = row[i]
        own[2] = row[1]
        row[3] = -1.0
    except IndexError:
        own[3] = own.sum() + 0.5
        row[1] += 1.0
    return own


@cases.each(([1.0], ROW, INSIDE), ([1.0], ROW, OUTSIDE))
def lists_as_they_were(items, row, i):
    made = [0.0]
    try:
        items.append(2.0)
        made.append(3.0)
        x = float(row[i])
        items.append(x)
        made.append(x)
    except IndexError:
        items.append(-1.0)
        made.append(-2.0)
    return made


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def lists_made_inside(row, i):
    try:
        made = [1.0]
        made.append(2.0)
        x = float(row[i])
        made.append(x)
    except IndexError:
        made.append(9.0)
    return made


@dataclass
class Counter:
    count: float
    last: float = 0.0


@cases.each((Counter(0.0), ROW, INSIDE), (Counter(0.0), ROW, OUTSIDE))
def objects_as_they_were(counter, row, i):
    own = Counter(5.0)
    try:
        counter.count += 1
        own.count += 1
        counter.last = float(row[i])
        own.last = counter.last
        counter.count += 1
        own.count += 1
    except IndexError:
        counter.count += 100
        own.last = own.count
    return own


@cases.each(([1.0], ROW, INSIDE, 1.0), ([1.0], ROW, OUTSIDE, -1.0))
@cases([1.0], ROW, OUTSIDE, 1.0, raises=IndexError)
def lists_that_grow_under_branches(items, row, i, x):
    y = 0.0
    try:
        if x > 0:
            items.append(x)
            y = float(row[i])
            items.append(y)
        else:
            items.append(0.5)
            items.append(x)
        y += 1.0
    finally:
        row[0] = 9.0
    return y


class Holder:
    def __init__(self):
        self.items = [3, 4]


HOLDER = Holder()


def an_attribute_set_by_a_handler(n, i):
    HOLDER.items = [3, 4]
    try:
        if i > 3:
            raise IndexError
        try:
            HOLDER.items[0] += 0
            if n < 0:
                raise KeyError
        except KeyError:
            HOLDER.items = [1, 0]
        if i == 0:
            raise ValueError("0")
    except LookupError:
        HOLDER.items[0]
    return n


@pytest.mark.parametrize("n, i", [(1, 0), (-1, 0), (-1, 1), (-1, 5)])
def test_what_an_escaping_exception_leaves(n, i):
    outcomes = []
    for run in (an_attribute_set_by_a_handler, pystage.compile(an_attribute_set_by_a_handler)):
        try:
            run(np.int64(n), np.int64(i))
            outcomes.append(("", HOLDER.items))
        except ValueError as error:
            outcomes.append((repr(error), HOLDER.items))
    assert outcomes[0] == outcomes[1]


def fill(out, row, i):
    out[0] += 1.0
    out[1] = row[i]
    out[2] += 1.0


@cases.each((ROW, INSIDE, 2), (ROW, OUTSIDE, 1), (ROW, 3, 1))
def changes_in_callees(row, i, n):
    out, calls = np.zeros(3), 0
    for k in range(n):
        try:
            fill(out, row, i + k)
            calls += 1
        except IndexError:
            out[0] = out[0] * 10.0 + out[2]
    return out, calls


@cases.each((ROW, INSIDE, 1), (ROW, OUTSIDE, 1), (ROW, INSIDE, 9))
def several_places(row, i, j):
    steps = 0
    x = 0.0
    try:
        steps += 1
        x = float(row[i])
        steps += 1
        x += float(row[j])
        steps += 1
    except IndexError:
        x += 100.0
    return x, steps


@cases.each((ROW, INSIDE, 1.0), (ROW, OUTSIDE, 1.0), (ROW, OUTSIDE, -1.0), (ROW, INSIDE, -1.0))
def under_branches(row, i, x):
    y = 0.0
    try:
        if x > 0:
            y = float(row[i])
            y += 1.0
        else:
            y = 2.0
        y += x
    except IndexError:
        y -= 5.0
    return y


@cases(ROW, OUTSIDE, raises=UnboundLocalError)
@cases(ROW, INSIDE)
def unbound(row, i):
    try:
        x = float(row[i])
    except IndexError:
        pass
    return x


# ---------------------------------------------------------------- loops


@cases.each((ROW, 4), (ROW, 6), (ROW, 0))
def in_a_loop(row, n):
    total, misses = 0.0, 0
    for i in range(n):
        try:
            total += float(row[i])
        except IndexError:
            misses += 1
    return total, misses


@cases.each((ROW, 4), (ROW, 6), (ROW, 0))
def around_a_loop(row, n):
    total, done = 0.0, -1
    try:
        for i in range(n):
            total += float(row[i])
            done = i
            total += 0.5
    except IndexError:
        total = -total
    return total, done


@cases.each((ROW, 3, 10.0), (ROW, 6, 10.0), (ROW, 6, 5.0), (ROW, 4, 100.0))
def with_jumps(row, n, limit):
    total = 0.0
    for i in range(n):
        try:
            x = float(row[i])
            if x == 2.0:
                continue
            if total + x > limit:
                break
            total += x
        except IndexError:
            total -= 0.25
            continue
        total += 100.0
    else:
        total += 0.125
    return total


@cases.each((ROW, 3), (ROW, 6))
def returns_out_of_a_loop(row, n):
    for i in range(n):
        try:
            if row[i] > 3.0:
                return i
        except IndexError:
            return -1
    return -2


@cases.each((ROW, 2.0), (ROW, 9.0))
def while_until_it_raises(row, target):
    i = 0
    try:
        while row[i] != target:
            i += 1
    except IndexError:
        i = -i
    return i


@cases.each((ROW, 3), (ROW, 5))
def print_as_they_go(row, n):
    for i in range(n):
        try:
            print("try", i)
            print("got", row[i])
        except IndexError as e:
            print("no", e)
        else:
            print("else", i)
        finally:
            print("finally", i)


@cases.each((ROW, 2), (ROW, 5))
def stores_in_loops(row, n):
    out = np.zeros(6)
    try:
        for i in range(n):
            out[i] = row[i] * 2.0
            row[i] = -1.0
    except IndexError:
        out[5] = 99.0
    return out


# ---------------------------------------------------------------- nested, and finally


@cases.each((ROW, INSIDE, 1.0), (ROW, OUTSIDE, 1.0), (ROW, INSIDE, 0.0), (ROW, OUTSIDE, 0.0))
def nested(row, i, d):
    trace = 0.0
    try:
        trace += 1.0
        try:
            x = float(row[i])
            trace += 10.0
            x = x / d
        except IndexError:
            trace += 100.0
            x = 1.0 / d
        trace += 1000.0
    except ZeroDivisionError:
        trace += 10000.0
        x = 0.0
    return x, trace


@cases(ROW, INSIDE)
@cases(ROW, OUTSIDE, raises=IndexError)
def finally_always(row, i):
    x = 0.0
    try:
        row[0] += 1.0
        x = float(row[i])
        row[1] += 1.0
    finally:
        row[2] += 10.0 + x
        print("finally", x)
    row[3] += 1.0
    return x


@cases.each((1.0,), (-1.0,))
def finally_measures_a_list_that_is_shorter_after_a_raise(x):
    xs = []
    try:
        try:
            xs.append(x)
            if x > 0:
                raise ValueError
            xs.append(np.ones(3))
        finally:
            n = len(xs)
            xs.append(2.0)
    except ValueError:
        return n, xs[1]
    return n + 10, xs[2]


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def finally_after_a_handler(row, i):
    x = 0.0
    try:
        x = float(row[i])
    except IndexError:
        x = 5.0
    finally:
        x += 100.0
    return x


@cases(ROW, INSIDE, 2.0)
@cases(ROW, OUTSIDE, 2.0, raises=IndexError)
@cases(ROW, INSIDE, 0.0, raises=ZeroDivisionError)
@cases(ROW, OUTSIDE, 0.0, raises=ZeroDivisionError)
def finally_raises(row, i, d):
    x = 0.0
    try:
        x = float(row[i])
    finally:
        x += 1.0 / d
    return x


@cases.each((ROW, INSIDE), (ROW, OUTSIDE))
def finally_and_return(row, i):
    try:
        return float(row[i])
    except IndexError:
        return -1.0
    finally:
        row[0] = 50.0


@cases(ROW, 2.0)
@cases(ROW, -2.0, raises=Refused)
def raised_before(row, x):
    y = checked(x, 1.5) if x < 0 else x
    try:
        row[0] = 5.0
        y += float(row[int(x) + 3])
    except IndexError:
        row[1] = 6.0
    row[2] = 7.0
    return y


@cases.each((ROW, 0.5, 1), (ROW, 2.0, 1), (ROW, -2.0, 9), (ROW, 0.5, 9))
def callees_that_catch(row, x, i):
    return caught_inside(row, x, i) + caught_inside(row, x + 1.0, i - 1)


def caught_inside(row, x, i):
    try:
        return checked(x, 1.0) + float(row[i])
    except Rejected:
        return 100.0
    except IndexError:
        return 200.0


@cases.each((jnp.arange(3.0), 0.5), (jnp.arange(3.0), 2.0))
def of_jax_arrays(x, limit):
    try:
        if float(limit) > 1.0:
            raise ValueError("limit")
        y = x * 2
    except ValueError:
        y = x - 1
    return y


@cases.each((ROW, 2, 1.0), (ROW, 6, 1.0), (ROW, 6, -1.0))
def loops_that_may_not_run(row, n, x):
    total = 0.0
    try:
        if x > 0:
            for i in range(n):
                total += float(row[i])
        else:
            raise Refused(total)
    except (Rejected, IndexError) as e:
        print(e)
        total = -total
    return total


# ---------------------------------------------------------------- with


class Recorder:
    def __init__(self, swallows):
        self.swallows = swallows
        self.entered = 0
        self.left = 0
        self.failed = 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, cls, error, trace):
        self.left += 1
        if error is not None:
            self.failed += 1
            print("left by", error)
        return self.swallows


@cases(Recorder(False), ROW, INSIDE)
@cases(Recorder(False), ROW, OUTSIDE, raises=IndexError)
@cases(Recorder(True), ROW, OUTSIDE)
def a_manager(recorder, row, i):
    x = 0.0
    with recorder as entered:
        x = float(row[i])
        entered.entered += 10
    return x


@cases.each((ROW, INSIDE, 2.0), (ROW, OUTSIDE, 2.0))
@cases(ROW, INSIDE, 0.0, raises=ZeroDivisionError)
def suppressed(row, i, d):
    x = 0.5
    with contextlib.suppress(IndexError, KeyError):
        x = float(row[i])
        x = x / d
    return x


# ---------------------------------------------------------------- containers of the caller that change


@cases([1.0], 0.5)
@cases([1.0], 2.0, raises=ValueError)
def a_list_that_grows_in_finally(xs, x):
    try:
        if x > 1:
            raise ValueError(x)
    finally:
        xs.append(x)
    return x


@cases([1.0], 0.5)
@cases([1.0], 2.0, raises=ValueError)
def a_list_that_grows_before_finally(xs, x):
    try:
        if x > 1:
            raise ValueError(x)
        xs.append(2.0)
    finally:
        xs.append(x)
    return x


@cases([1.0], 0.5)
@cases([1.0], 2.0, raises=TypeError)
def a_list_that_grows_before_finally_raises(xs, x):
    try:
        if x > 1:
            raise ValueError(x)
        xs.append(2.0)
    finally:
        xs.append(x)
        if x > 1:
            raise TypeError(x)
    return x


@cases([1.0], 0.5)
@cases([1.0], 2.0, raises=ValueError)
def a_list_that_shrinks_in_a_handler(xs, x):
    xs.append(0.5)
    try:
        if x > 1:
            raise ValueError("a")
        xs.append(2.0)
    except ValueError:
        xs.pop()
        raise
    return x


@cases({"n": 1}, 0.5)
@cases({"n": 1}, 2.0, raises=ValueError)
def a_dict_that_changes_in_finally(d, x):
    try:
        if x > 1:
            raise ValueError("a")
    finally:
        d["n"] = d["n"] + 1
        d["k"] = x
    return x


@cases([1.0], 2.0)
@cases([1.0], 3.0)
def a_list_whose_length_depends_on_what_is_caught(xs, x):
    try:
        x = 1.0 / (x - 2.0)
    except ZeroDivisionError:
        xs.append(5.0)
    return x


def solved(a, b):
    if a[0] > 2.0:
        raise Rejected("large", a[0])
    x = np.zeros(5)
    x[:4] = a * b
    return x[:2], np.outer(a, x)[-1]


@cases([], 1.0)
@cases([ROW], 1.0)
@cases([ROW * 2.0, ROW, ROW * 0.0, ROW * 3.0, ROW - 1.0], 1.0)
@cases([ROW] * 20, 1.0)
@cases([ROW * 3.0, ROW * 4.0], 1.0)
def arrays_of_the_trips_that_raise_nothing(rows, b):
    results, failures = [], 0
    for a in rows:
        try:
            x, y = solved(a, b)
        except Rejected:
            failures += 1
            continue
        results.append({"x": x, "y": y[1:]})
    return results, failures


@cases(ROW, 0.0)
@cases(ROW, 3.0)
@cases(ROW, 9.0)
def arrays_of_the_same_object_again(row, limit):
    found, x = [], np.zeros(2)
    for a in row:
        try:
            x = np.array([checked(a, limit), a])
        except Rejected:
            x[1] += 1.0
            continue
        finally:
            limit += 1.0
        found.append(x * 1.0)
    return found, x


@cases.each((ROW, 5.0), (ROW, 1.0), (ROW, 100.0), (ROW[:0], 1.0))
def the_rest_after_handlers_that_leave(row, limit):
    total, missed = 0.0, 0
    for x in row:
        try:
            if x == 4.0:
                continue
            y = checked(x, limit)
        except Refused:
            break
        except Rejected as error:
            missed += 1
            if missed > 2:
                return total, error.args
            continue
        else:
            total += 1.0
        if y > 15.0:
            break
        total += y
    else:
        total += 1000.0
    return total, missed


@cases(0.5)
@cases(3.0)
@cases(1.5, raises=Rejected)
def what_the_rest_raises_no_handler_catches(x):
    try:
        y = checked(x, 2.0)
    except Rejected:
        return -1.0
    y += checked(x, 1.0)
    return y


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_handles_the_same(function, args, options) -> None:
    check(function, *args, **options)


# ---------------------------------------------------------------- elsewhere


def test_under_transformations() -> None:
    def function(x):
        try:
            if x > 2.0:
                raise ValueError("large")
            y = x * x
        except ValueError:
            y = x * 3.0
        return y

    staged = pystage.compile(function, fallback="error")
    assert float(jax.jit(staged)(jnp.float32(1.5))) == 2.25
    assert float(jax.grad(staged)(jnp.float32(1.5))) == 3.0
    assert float(jax.grad(staged)(jnp.float32(4.0))) == 3.0
    np.testing.assert_allclose(jax.vmap(staged)(jnp.array([1.0, 4.0])), [1.0, 12.0])


def test_refusals_are_not_caught() -> None:
    """An integer beyond 64 bits is a refusal of pystage's; in plain Python nothing is raised."""

    def function(n):
        try:
            m = n * n
        except Exception:
            m = 0
        return m

    staged = pystage.compile(function, fallback="error")
    assert staged(3) == 9
    with pytest.raises(pystage.StagingError, match="PS810"):
        staged(2**40)


def test_draws_inside_are_refused() -> None:
    def function(rng, row, i):
        try:
            x = float(row[i]) + rng.random()
        except IndexError:
            x = 0.0
        return x + rng.random()

    with pytest.raises(pystage.StagingError, match="PS606"):
        pystage.compile(function, fallback="error")(np.random.default_rng(0), ROW, OUTSIDE)


def raise_current():
    raise  # noqa: PLE0704


def test_raise_in_a_function_that_a_handler_calls_is_refused() -> None:
    """In plain Python it raises what the handler handles."""

    def function(row, i):
        try:
            x = float(row[i])
        except IndexError:
            raise_current()
            x = 0.0
        return x

    check(function, ROW, OUTSIDE, refused="PS308")


def raise_current_if(x):
    if x > 1.0:
        raise  # noqa: PLE0704
    return x


def test_raise_in_a_program_that_a_handler_calls_is_refused() -> None:
    """In plain Python it raises what the caller handles."""
    check(raise_current_if, 1.0, refused="PS308")
    compiled = pystage.compile(raise_current_if, fallback="python", tier="compiled")
    with (
        pytest.warns(FallbackWarning, match="PS308"),
        pytest.raises(RuntimeError, match="No active exception"),
    ):
        compiled(2.0)
    handled = KeyError("handled")
    with pytest.raises(KeyError) as caught:
        try:
            raise handled
        except KeyError:
            compiled(2.0)
    assert caught.value is handled


def test_where_nothing_can_raise_nothing_is_added() -> None:
    def guarded(row):
        try:
            total = 0.0
            for i in range(4):
                total += row[i]
        except IndexError:
            total = -1.0
        return total

    def plain(row):
        total = 0.0
        for i in range(4):
            total += row[i]
        return total

    both = [pystage.compile(f, fallback="error").lower(ROW) for f in (guarded, plain)]
    assert both[0].instruction_counts().total == both[1].instruction_counts().total


def store_if_it_goes_on(a, x):
    try:
        a[0] = 1.0
        if x > 100:
            raise Rejected
    except Rejected:
        pass
    if x > 3:
        raise Refused
    a[1] = 5.0


@pytest.mark.parametrize("x", [1.0, 4.0, 101.0])
def test_a_callee_with_a_try_of_its_own_serves_where_the_same_is_seen_outside(x) -> None:
    """The first call's array is seen by the callee's own handler alone, that of the second one by the caller's too."""

    def function(x):
        a, b = np.zeros(3), np.zeros(3)
        store_if_it_goes_on(a, x - x)
        try:
            store_if_it_goes_on(b, x)
        except Refused:
            b[2] = 7.0
        return a, b

    check(function, x)


def test_a_refusal_at_run_time_is_seen_by_no_block_of_the_program(capsys) -> None:
    """Of an integer that leaves 64 bits (PS810) the plain run knows nothing."""

    def square(n, x):
        try:
            return n * n
        except BaseException:
            print("except")
        finally:
            print("finally")
            if x[0] > 0.0:
                raise ValueError

    staged = pystage.compile(square, fallback="error")
    for sign in (-1.0, 1.0):
        with pytest.raises(pystage.StagingError, match="PS810"):
            staged(2**40, np.array([sign]))
        assert capsys.readouterr().out == ""
    assert staged(3, np.array([-1.0])) == 9 and capsys.readouterr().out == "finally\n"
