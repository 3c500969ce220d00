"""`print` prints at run time what it prints in plain Python: the same text, in the same order, once."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

ROW = np.array([1.5, -2.0, 3.25, 0.125])


# ---------------------------------------------------------------- text


@cases(2, 0.1, True, 1.0 + 2.0j, interpreted=True)
def python_numbers(n, x, flag, z):
    print(n, x, flag, z)
    print(n + 1, x / 3, not flag, z * z, x * 1e300 * 1e300, -n)
    return n


@cases(ROW, np.float32(1.1), np.int8(-3), np.arange(6).reshape(2, 3) > 2)
def arrays_and_scalars(row, single, small, flags):
    print(row, row[0], row[:2], row.sum())
    print(single, [single, small], (small, row[1]), flags)
    print({"row": row * 2.0, "n": [1, row[2]]}, (single,), [], ())


@cases(np.arange(2000.0))
@cases(np.arange(12).reshape(3, 4))
@cases(np.array([1.0, np.nan, np.inf, -0.0]))
def whole_arrays(x):
    print(x + 1)
    print(repr(x), str(x[0]), [x])


@cases(ROW, 3)
@cases(ROW, 0)
def joined_strings(row, n):
    parts = [f"{v:.1f}" for v in row]
    parts.append("end")
    print(" ".join(str(v) for v in row))
    return "|".join(parts), "-".join(["a", "b"]), ", ".join(parts[:n])


@cases(ROW, raises=TypeError)
def joined_strings_and_numbers(row):
    print("-".join(["a"] + [1]))
    return row


@cases(3.14159, 42, ROW)
def formats(x, n, row):
    print(f"{x:.2f} {x:10.3e}|{x!r:>12}|{n:05d} {n:x} {n:,}")
    print(f"{row[1]:+.1f} {row!s} {row[0]!r}", "%5.1f and %d" % (x, n), "{:>8} {b}".format(n, b=x))
    name = "x" + str(n)
    print(name, "=" * 3, str(x) + "!")


@cases(1, 2.5)
def separators(n, x):
    print(n, x, n, sep=", ")
    print(n, end="")
    print(end=f"{x}|")
    print()
    print(n, x, sep="", end=".\n")
    print(n, sep=None, end=None, file=None, flush=True)


@cases(1, raises=TypeError)
def bad_separator(n):
    print("before", n)
    print(n, n, sep=n)


@cases(2.5, raises=ValueError)
def bad_format(x):
    print("before")
    print(f"{x:d}")


@cases(jnp.arange(4.0), jnp.float32(2.5), jnp.ones((2, 2), jnp.bfloat16), 2)
def jax_arrays(row, scalar, half, n):
    print(row, scalar, half)
    print([row, scalar], (half,), jnp.asarray(n), [jnp.asarray(n)])
    print(f"{scalar:.1f} {row!r} {row}", [jnp.zeros((0, 3))], [row > 1])
    return row


@cases(2)
def streams(n):
    print("to stderr", n, file=sys.stderr)
    print("to stdout", n, file=sys.stdout)
    sys.stdout.write(f"{n}\n")
    sys.stderr.write("x")
    sys.stdout.flush()
    return sys.stdout.write("abc")


@dataclass
class Point:
    x: float
    y: Any = None
    hidden: int = field(default=3, repr=False)


@dataclass
class Named:
    name: str

    def __repr__(self):
        return f"<{self.name}>"


class Pair(NamedTuple):
    first: float
    second: Any


class Account:
    def __init__(self, balance):
        self.balance = balance

    def __str__(self):
        return f"{self.balance:.2f} EUR"

    def __format__(self, spec):
        return f"{self.balance:{spec}}"


@cases(Point(1.0, 2), Account(3.0), 4.5)
def objects(point, account, x):
    print(point, [point], Point(x, Pair(x, ROW_OF_ONES)), f"{point} {point!r}")
    print(Pair(x, 1), [Pair(x, [point])], {"a": Named(f"n{x}")}, Named("b"))
    print(account, f"{account:.1f}")
    account.balance += x
    print(account)


ROW_OF_ONES = np.ones(2)


class Shown(NamedTuple):
    first: float

    def __str__(self):
        return f"shown {self.first}"


@dataclass
class Titled:
    name: float

    def __str__(self):
        return f"titled {self.name}"


@cases(Account(3.0), Titled(2.5), 4.5, 2)
def objects_in_templates(account, titled, x, n):
    shown = Shown(x)
    print("{}|{!s:>12}|{!r}|{:>{w}}".format(account, titled, titled, n, w=n + 3))
    print("{0:.1f}|{0}|{t.name:.3f}|{t}|{1[0].name}".format(account, [titled], t=titled))
    print("%s|%-14s|%r|%.3s|%d%%" % (account, titled, titled, shown, n), "%s" % titled)
    print(
        "{} {.first}".format(shown, shown), repr(shown), [shown], "%s" % shown, "%s" % (shown,), f"{shown!r}"
    )


@cases(Account(3.0), raises=IndexError)
def too_few_objects_in_a_template(account):
    print("{} {}".format(account))  # noqa: F524


@cases({"a": Titled(2.0)}, refused="PS401")
def objects_by_key_in_a_template(d):
    return "%(a)s" % d


@cases(Account(1.0), refused="PS401")
def the_address_of_an_object(account):
    return f"{[account]}"


class Speaker:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        print("asked")
        if self.x < 0:
            raise ValueError(f"negative: {self.x}")
        return f"Speaker({self.x})"


@cases(1.0)
@cases(-1.0, raises=ValueError)
def objects_that_print(x):
    print("first", x, Speaker(x), "last", [Speaker(2.0 * x)])


# ---------------------------------------------------------------- order


@cases(4)
@cases(0)
def in_a_loop(n):
    print("start")
    total = 0
    for i in range(n):
        total += i
        print(i, total)
    print("end", total)


@cases(ROW, 3)
def under_branches(row, n):
    for i in range(n):
        if row[i] > 0:
            print("positive", row[i])
            if row[i] > 2:
                print("large")
        elif i == 1:
            print("second")
        print("next")
    return row[0]


def shout(x, times):
    for _ in range(times):
        print("calling", x)
    return x + 1


@cases(1.0, 2)
def in_callees(x, n):
    y = shout(x, n)
    z = shout(y, 1)
    print("between")
    return shout(shout(z, n), n)


@cases(3)
def unused(n):
    for i in range(n):
        shout(float(i), 1)


def ask(i, n):
    print("asked", i)
    return i < n


@cases(3)
@cases(0)
def in_the_test_of_a_loop(n):
    i = 0
    while ask(i, n):
        i += 1
    return i


@cases(5)
def with_jumps(n):
    for i in range(n):
        if i == 1:
            print("skip")
            continue
        if i == 3:
            print("stop")
            break
        print(i)
    else:
        print("not reached")
    return i


@cases(ROW)
def nested_loops(row):
    for i in range(3):
        for j in range(i):
            print(i, j, row[i] * row[j])
        print()
    k = 0
    while row[k] > -1:
        k += 1
        print("k", k)


@cases(2.0)
@cases(-2.0, raises=ValueError)
def before_a_raise(x):
    print("before", x)
    if x < 0:
        print("about to raise")
        raise ValueError(x)
    print("after")
    return x


@cases(ROW, 2)
@cases(ROW, 9, raises=IndexError)
def around_a_failing_index(row, n):
    total = 0.0
    for i in range(n):
        print("reading", i)
        total += row[i]
        print("read", row[i])
    print("all", total)
    return total


@cases(ROW)
def between_stores(row):
    for i in range(3):
        row[i] = row[i] * 2.0
        print(row)
        row[i + 1] += row[i]
        print(row[i + 1], row)


@cases([1, 2.0], 3.0)
def lists_that_change(items, x):
    print(items)
    items.append(x)
    print(items, len(items))
    items[0] = x * 2
    print(items)


def decide(x, y):
    return x > 1 and shout(y, 1) > 2 or shout(x, 2) > 0


@cases(2.0, 0.0)
@cases(0.0, 5.0)
def in_conditions(x, y):
    if decide(x, y):
        print("yes")
    return [shout(x, 1) for _ in range(2)]


@cases(2.0, 3)
@cases(-2.0, 3)
def strings_by_path(x, n):
    sign = "positive" if x > 0 else "negative"
    print(sign, f"{sign:>12}", [sign], "yes" if x > 0 else f"no: {x}")
    number = f"{n}" if x > 0 else f"{x}"
    if x < 0:
        number += f" of {n}" if n > 2 else "!"
    print(number)
    return number, sign


@cases({"a": 1.0, "b": [2, 3.0]}, ROW)
def containers(d, row):
    print(d, d.keys(), d.values(), d.items(), [d.keys()], range(3), slice(1, None))
    print(*row, sep=",")
    print(*[f"{i}:{r:.2f}" for i, r in enumerate(row)])
    print({i: row[i] * 2.0 for i in range(2)}, {1, 2}, row.shape, row.dtype, type(row))


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_prints_the_same(function, args, options) -> None:
    check(function, *args, **options)


# ---------------------------------------------------------------- where it goes


def lines(n):
    for i in range(n):
        print("line", i)
    return n


def test_prints_while_it_runs() -> None:
    """The first line is there before the last one is printed."""

    class Watching(io.StringIO):
        def write(self, text: str) -> int:
            seen.append(text)
            return super().write(text)

    seen: list[str] = []
    staged = pystage.compile(lines)
    staged(1)
    with contextlib.redirect_stdout(Watching()):
        seen.clear()
        staged(3)
    assert "".join(seen) == "line 0\nline 1\nline 2\n"
    assert len(seen) >= 3


def test_all_is_printed_when_the_call_returns(capsys: pytest.CaptureFixture[str]) -> None:
    def double(x):
        for i in range(20):
            print(i, x[0])
            x = x * 1.0
        return x

    staged = pystage.compile(double)
    x = jnp.ones(1000)
    for _ in range(5):
        staged(x)
        print("caller")
        assert capsys.readouterr().out.splitlines() == [*[f"{i} 1.0" for i in range(20)], "caller"]


def test_stream_is_looked_up_at_each_write() -> None:
    staged = pystage.compile(lines)
    for _ in range(3):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            staged(2)
        assert output.getvalue() == "line 0\nline 1\n"
    assert len(staged.signatures()) == 1


def test_prints_from_several_threads() -> None:
    staged = pystage.compile(lines)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        staged(1)
        threads = [threading.Thread(target=staged, args=(5,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    printed = output.getvalue().splitlines()
    assert sorted(printed) == sorted(["line 0", *[f"line {i}" for i in range(5)] * 4])


# ---------------------------------------------------------------- under JAX


def squared(x):
    y = x * x
    print("y", y)
    return y + 1


def printed_by(function: Any, *args: Any) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        jax.block_until_ready(function(*args))
        jax.effects_barrier()
    return output.getvalue()


def test_prints_under_jit_each_time() -> None:
    function = jax.jit(pystage.compile(squared))
    assert printed_by(function, jnp.float32(2.0)) == "y 4.0\n"
    assert printed_by(function, jnp.float32(3.0)) == "y 9.0\n"


def test_prints_under_jit_when_the_result_is_unused() -> None:
    staged = pystage.compile(squared)

    def function(x):
        staged(x)
        return x

    assert printed_by(jax.jit(function), jnp.float32(2.0)) == "y 4.0\n"


def test_prints_under_grad_once() -> None:
    staged = pystage.compile(squared)
    assert printed_by(jax.grad(staged), jnp.float32(2.0)) == "y 4.0\n"
    assert printed_by(jax.jit(jax.value_and_grad(staged)), jnp.float32(2.0)) == "y 4.0\n"
    assert printed_by(jax.hessian(staged), jnp.float32(2.0)).splitlines().count("y 4.0") >= 1


def test_prints_under_vmap_for_each_element() -> None:
    staged = pystage.compile(squared)
    assert printed_by(jax.vmap(staged), jnp.arange(3.0)) == "y 0.0\ny 1.0\ny 4.0\n"


def test_export_is_refused() -> None:
    staged = pystage.compile(squared)
    with pytest.raises(pystage.StagingError, match="PS813"):
        jax.export.export(jax.jit(staged))(jax.ShapeDtypeStruct((), jnp.float32))


def test_what_is_differentiated_in_staged_source_prints_once() -> None:
    def slope(x):
        return pystage.grad(squared)(x)

    assert printed_by(pystage.compile(slope), 2.0) == "y 4.0\n"


def test_functions_that_jax_traces_are_refused() -> None:
    """In the plain run JAX gives them tracers, which print as such."""

    def body(i, x):
        print(i)
        return x + i

    def summed(x):
        return jax.lax.fori_loop(0, 3, body, x)

    with pytest.raises(pystage.StagingError, match="PS606"):
        pystage.compile(summed, fallback="error")(jnp.float32(2.0))


def test_other_files_are_refused() -> None:
    output = io.StringIO()

    def function(x):
        print(x, file=output)
        return x

    with pytest.raises(pystage.StagingError):
        pystage.compile(function, fallback="error")(2.0)


def test_a_compiled_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = pystage.compile(lines).lower(2).compile()
    assert compiled(2) == 2
    assert capsys.readouterr().out == "line 0\nline 1\n"
