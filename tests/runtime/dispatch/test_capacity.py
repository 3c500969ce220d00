"""A run that exceeds a capacity ends, and the call is executed again with a larger one, unseen."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check

import pystage
from pystage.compiler.diagnostics.codes_runtime import ValueNotGiven
from pystage.runtime.dispatch.dispatch import Dispatcher
from pystage.runtime.guards.feedback import Feedback
from pystage.runtime.reports.ledger import ledger
from tests.runtime.growing import INITIAL, SMALL, count_below, total_below


def programs(staged: Any) -> list[int]:
    """The sum of the capacities of each kept program."""
    return [sum(c.size for c in s.program.capacities) for s in staged._dispatcher.staged]


def total(n: int) -> float:
    return total_below(n)


@pytest.mark.parametrize("n", [0, INITIAL - 1, INITIAL, INITIAL + 1, SMALL, SMALL + 1, 1_000_000])
def test_sizes(n: int) -> None:
    check(total, n)


def test_it_is_remembered() -> None:
    staged = pystage.compile(total, fallback="error")
    assert staged(INITIAL) == 6.0
    assert programs(staged) == [INITIAL]
    assert staged(INITIAL + 1) == 10.0
    assert programs(staged) == [SMALL]
    assert staged(SMALL) == total(SMALL) and staged(3) == 3.0
    assert programs(staged) == [SMALL]
    assert staged(SMALL + 1) == total(SMALL + 1)
    assert programs(staged) == [16 * SMALL]
    (signature,) = staged.signatures()
    assert f"capacity {16 * SMALL} (the numbers, {__file__}:" in signature


@pytest.mark.parametrize(("n", "grows"), [(0, False), (60, False), (5000, False), (50_000, True)])
def test_what_large_inputs_fill_has_the_capacity_at_once(n: int, grows: bool, monkeypatch: Any) -> None:
    def program(x: Any) -> Any:
        kept = [v for v in x if v > 0.5]
        seen = set()
        for v in x:
            if v > 0.5:
                seen.add(int(v * 1000))
        return kept, np.bincount((x * n).astype(int)), len(seen)

    outgrown: list[Any] = []
    note = Feedback.note_outgrown
    monkeypatch.setattr(Feedback, "note_outgrown", lambda self, end: outgrown.append(end) or note(self, end))
    check(program, np.random.default_rng(0).random(n), runs=1, interpreted=False)
    assert bool(outgrown) == grows


def nested(x: Any) -> Any:
    found = []
    for i in range(6):
        for j in range(7):
            for k in range(20):
                if x[i] > j:
                    found.append(i * j * k)
    return found


def lists_of_one_length(x: Any) -> Any:
    found = []
    for i in range(6):
        for j in range(30):
            if x[i] > j:
                found.append([i, j, i + j])
    return np.array(found)


def two_loops(x: Any) -> Any:
    found = [i * i for i in range(100)]
    for v in x:
        if v > 0:
            found.append(int(v))
    return found


@pytest.mark.parametrize(
    ("function", "capacities"), [(nested, {6 * 512}), (lists_of_one_length, None), (two_loops, None)]
)
def test_there_is_room_for_all_trips(function: Any, capacities: set[int] | None) -> None:
    """The outermost of nested loops decides, lists that get no longer have none, and a later loop has room for more."""
    x = np.arange(6.0) + 90
    staged = pystage.compile(function, fallback="error")
    staged(x)
    assert ledger.account(*staged.identity).programs == 1
    (kept,) = staged._dispatcher.staged
    assert capacities is None or {c.size for c in kept.program.capacities} == capacities
    assert not any("lists in a list" in str(c.site) for c in kept.program.capacities)
    check(function, x)


# ---------------------------------------------------------------- what is around it


def in_a_loop(n: int) -> float:
    found = 0.0
    for i in range(n):
        found += total_below(i)
    return found


def in_a_branch(x: Any, n: int) -> float:
    return total_below(n) if x[0] > 0.0 else -1.0


def twice(n: int) -> tuple[float, float]:
    return total_below(n), total_below(2 * n)


def helper(n: int, factor: float) -> float:
    return factor * total_below(n)


def in_callees(n: int) -> float:
    return helper(n, 2.0) + helper(n + 1, 2.0) * helper(n + 2, 2.0)


def in_a_while(x: Any) -> float:
    n = 1
    while total_below(n) < x.sum():
        n *= 2
    return n


@pytest.mark.parametrize("n", [2, 40, 300])
@pytest.mark.parametrize("function", [in_a_loop, twice, in_callees])
def test_control_flow(function: Any, n: int) -> None:
    check(function, n)


def test_a_test_of_a_loop() -> None:
    check(in_a_while, np.full(3, 1e6))


def test_a_branch_that_is_not_taken_needs_no_capacity() -> None:
    staged = pystage.compile(in_a_branch, fallback="error")
    assert staged(-np.ones(1), 100) == -1.0
    assert programs(staged) == [INITIAL]
    assert staged(np.ones(1), 100) == total(100)
    assert programs(staged) == [SMALL]


def test_a_function_that_is_called_often_is_inferred_once() -> None:
    staged = pystage.compile(in_callees, fallback="error")
    staged(100)
    (kept,) = staged._dispatcher.staged
    assert [c.size for c in kept.program.capacities] == [SMALL]
    assert (
        str(pystage.code_typed(in_callees, 100)).count("iota") == 2
    )  # before the first may have ended the run, and after it


def test_several_things_that_grow() -> None:
    def several(n: int) -> tuple[float, int]:
        return total_below(n), count_below(n)

    staged = pystage.compile(several, fallback="error")
    assert staged(100) == several(100)
    (kept,) = staged._dispatcher.staged
    assert [c.size for c in kept.program.capacities] == [SMALL, 100]
    assert kept.program.capacities[1].bytes == 100 * 1024


def test_what_one_loop_adds_to_grows_together() -> None:
    def both(n: int) -> float:
        found = 0.0
        for i in range(n):
            found += total_below(i)
            found += total_below(i)
        return found

    staged = pystage.compile(both, fallback="error")
    assert staged(20) == both(20)
    assert programs(staged) == [2 * SMALL]
    assert ledger.account(*staged.identity).programs == 2


def test_what_is_known_of_one_kind_of_call_serves_others() -> None:
    def scaled(x: Any, n: int) -> Any:
        return x * total_below(n)

    staged = pystage.compile(scaled, fallback="error")
    staged(np.ones(2), 10)
    assert programs(staged) == [SMALL]
    staged(np.ones(3, np.float32), 10)
    staged(1.0, 10)
    staged(np.ones((2, 2)), 10)
    assert programs(staged) == [SMALL] * 4


# ---------------------------------------------------------------- nothing of it is seen


def printing(n: int, x: Any) -> float:
    print("begins", n)
    found = 0.0
    for i in range(3):
        print("at", i)
        x[i] += 1.0
        found += total_below(n * (i + 1))
        print("found", found)
    print("ends", x)
    return found


@pytest.mark.parametrize("n", [1, 3, 2000, 200_000])
def test_prints_and_stores(n: int) -> None:
    check(printing, n, np.zeros(3))


def printing_twice(n: int) -> float:
    print("one")
    first = total_below(n)
    print("two")
    if first > 3.0:
        print("three")
        first += total_below(n * n)
    print("four")
    return first


def test_prints_of_three_runs(capsys: pytest.CaptureFixture[str]) -> None:
    staged = pystage.compile(printing_twice, fallback="error")
    for n in (2, 300, 1):
        expected = printing_twice(n)
        plain = capsys.readouterr().out
        assert staged(n) == expected
        assert capsys.readouterr().out == plain
    assert programs(staged) == [SMALL + 300 * 300]


def drawing(generator: np.random.Generator, n: int) -> Any:
    noise = generator.normal(size=2)
    total = total_below(n)
    return noise * total + generator.uniform()


def test_draws() -> None:
    plain, staged = np.random.default_rng(3), np.random.default_rng(3)
    compiled = pystage.compile(drawing, fallback="error")
    for n in (3, 5, SMALL + 1, 7):
        np.testing.assert_allclose(compiled(staged, n), drawing(plain, n))
        assert staged.bit_generator.state == plain.bit_generator.state


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.seen: list[float] = []


def mutating(counter: Counter, x: Any, names: dict[str, Any], n: int) -> float:
    counter.count += 1
    counter.seen.append(2.0)
    x[::2] = n
    names["n"] = x[0] + 1.0
    found = total_below(n)
    x[1] = found
    counter.count += 1
    return found


@pytest.mark.parametrize("n", [3, 50])
def test_mutation(n: int) -> None:
    counter, names = Counter(), {"n": 0.0}
    staged, x = pystage.compile(mutating, fallback="error"), np.zeros(5)
    theirs, y, others = Counter(), np.zeros(5), {"n": 0.0}
    assert staged(counter, x, names, n) == mutating(theirs, y, others, n)
    assert (counter.count, counter.seen) == (theirs.count, theirs.seen)
    assert x.tolist() == y.tolist() and names == others


CALLS = 0


def counted(n: int) -> float:
    global CALLS
    CALLS += 1
    return total_below(n)


def test_a_global() -> None:
    staged = pystage.compile(counted, fallback="error")
    before = CALLS
    for n in (3, 10, 5000):
        staged(n)
    assert before + 3 == CALLS


def test_donation() -> None:
    def shifted(x: Any, n: int) -> Any:
        return x + total_below(n)

    staged = pystage.compile(shifted, fallback="error", donate="x")
    x = jnp.arange(3.0)
    assert staged(x, 10).tolist() == [45.0, 46.0, 47.0]
    assert staged(x, 3).tolist() == [3.0, 4.0, 5.0]


def test_one_array_as_two_arguments() -> None:
    def added(x: Any, y: Any, n: int) -> None:
        x += 1.0
        y[0] += total_below(n)

    x = np.zeros(2)
    pystage.compile(added, fallback="error")(x, x, 10)
    assert x.tolist() == [46.0, 1.0]


def collecting(n: int, x: Any, log: list[Any]) -> Any:
    """A list that grows between prints, stores and changes of the caller's list."""
    found = []
    log.append(n)
    for i in range(n):
        if i % 50 == 0:
            print("at", i, len(found))
            x[i // 50] += 1.0
        if x[0] * i < 4000.0:
            found.append(x[0] * i)
    log[0] = len(found)
    return sum(found)


@pytest.mark.parametrize("n", [0, 1, 64, 65, 4200])
def test_lists(n: int) -> None:
    check(collecting, n, np.zeros(100), [0.5])


def collected_in_a_try(n: int, x: Any) -> Any:
    found = []
    try:
        for i in range(n):
            if x[i % 3] < 0.0:
                raise ValueError(i)
            found.append(i * 0.5)
    except ValueError as error:
        print("caught", error)
    finally:
        print("has", len(found))
        x[0] += 1.0
    return len(found)


@pytest.mark.parametrize("n", [0, 2, 64, 65, 300])
@pytest.mark.parametrize("last", [1.0, -1.0])
def test_lists_in_a_try(n: int, last: float) -> None:
    check(collected_in_a_try, n, np.array([1.0, 1.0, last]))


# ---------------------------------------------------------------- exceptions


def raising(n: int, x: Any) -> float:
    if x[0] < 0.0:
        raise ValueError("before", n)
    found = total_below(n)
    if x[1] < 0.0:
        raise KeyError("after", found)
    return found


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("x", [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
def test_exceptions(n: int, x: list[float]) -> None:
    raises = ValueError if x[0] < 0 else KeyError if x[1] < 0 else None
    check(raising, n, np.array(x), raises=raises)


def test_what_was_raised_before_needs_no_capacity() -> None:
    staged = pystage.compile(raising, fallback="error")
    with pytest.raises(ValueError, match="before"):
        staged(100, -np.ones(2))
    assert programs(staged) == [INITIAL]


def handled(n: int, x: Any) -> Any:
    seen = 0.0
    try:
        x[0] = 1.0
        if x[1] < 0.0:
            raise ValueError
        seen = total_below(n)
        if x[2] < 0.0:
            raise IndexError
        x[0] = 2.0
    except ValueError:
        print("value")
        x[1] = 5.0
    except BaseException as error:
        print("other", type(error).__name__)
        x[2] = 7.0
    else:
        print("else")
    finally:
        print("finally", x[0])
        x[0] += 10.0
    return seen


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("x", [[0.0, 1.0, 1.0], [0.0, -1.0, 1.0], [0.0, 1.0, -1.0]])
def test_handlers_do_not_see_it(n: int, x: list[float]) -> None:
    check(handled, n, np.array(x))


def finally_raises(n: int, x: Any) -> float:
    found = 0.0
    try:
        found = total_below(n)
    finally:
        x[0] += 1.0
        print("finally")
        if x[1] > 0.0:
            raise ValueError("finally")
    return found


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_finally_does_not_hide_it(n: int, sign: float) -> None:
    check(finally_raises, n, np.array([0.0, sign]), raises=ValueError if sign > 0 else None)


def finally_returns(n: int) -> float:
    try:
        return total_below(n)
    finally:
        print("leaves")


def finally_on_lists(n: int, x: Any) -> Any:
    found = [1.0]
    try:
        if x[0] > 0.0:
            raise ValueError
        found.append(total_below(n))
    finally:
        print("done", found)
    return sum(found)


class Manager:
    def __init__(self) -> None:
        self.left = 0.0

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        self.left += 1.0
        print("leaves")
        return True


def managed(n: int, manager: Manager) -> float:
    found = -1.0
    with manager:
        found = total_below(n)
    return found


def suppressed(n: int) -> float:
    found = -1.0
    with contextlib.suppress(BaseException):
        found = total_below(n)
    return found


def guarded_total(n: int, x: Any) -> float:
    try:
        if x[n] < 0.0:
            raise ValueError
        return total_below(10 * n)
    except ValueError:
        print("value")
        return -1.0
    finally:
        x[n] += 1.0


def in_callees_with_handlers(n: int, x: Any) -> float:
    found = 0.0
    for i in range(n):
        found += guarded_total(i, x)
        print(i, found)
    return found + guarded_total(0, x)


@pytest.mark.parametrize("n", [2, 20])
def test_blocks_do_not_see_it(n: int) -> None:
    check(in_callees_with_handlers, n, np.where(np.arange(20) % 3 == 1, -1.0, 1.0))
    check(finally_returns, n)
    check(suppressed, n)
    check(finally_on_lists, n, np.ones(1), raises=ValueError)
    check(finally_on_lists, n, -np.ones(1))
    check(managed, n, Manager())


def in_a_handler(n: int, x: Any) -> float:
    try:
        if x[0] > 0.0:
            raise ValueError
        return 0.0
    except ValueError:
        return total_below(n)


def test_in_a_handler() -> None:
    check(in_a_handler, 20, np.ones(1))
    check(in_a_handler, 20, -np.ones(1))


# ---------------------------------------------------------------- the limit


@pytest.fixture
def limit() -> Iterator[int]:
    before = pystage.config.capacity_bytes
    pystage.config.capacity_bytes = 100_000
    yield 100_000
    pystage.config.capacity_bytes = before


def stored(n: int, x: Any) -> float:
    x[0] = 3.0
    print("before")
    found = total_below(n)
    x[1] = 3.0
    return found


def test_the_limit(limit: int, capsys: pytest.CaptureFixture[str]) -> None:
    staged, x = pystage.compile(stored, fallback="error"), np.zeros(2)
    assert staged(limit // 8, x) == total(limit // 8) and x.tolist() == [3.0, 3.0]
    assert programs(staged) == [limit // 8]
    x[:] = 0.0
    capsys.readouterr()
    with pytest.raises(
        MemoryError, match="a capacity of 12501 elements of 8 bytes for the numbers"
    ) as caught:
        staged(limit // 8 + 1, x)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.line) == ("stored", "found = total_below(n)")
    assert x.tolist() == [3.0, 0.0] and capsys.readouterr().out == "before\n"
    assert staged(5, x) == 10.0


def test_the_limit_is_one_for_all(limit: int) -> None:
    def both(n: int) -> tuple[int, float]:
        return count_below(n), total_below(40 * n)

    staged = pystage.compile(both, fallback="error")
    assert staged(40) == both(40)
    with pytest.raises(MemoryError, match="the rows"):
        staged(96)


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_the_limit_must_be_an_int(value: Any, error: type[Exception]) -> None:
    before = pystage.config.capacity_bytes
    with pytest.raises(error):
        pystage.config.capacity_bytes = value
    assert pystage.config.capacity_bytes == before


# ---------------------------------------------------------------- threads, JAX, fallbacks


def test_threads() -> None:
    staged = pystage.compile(printing_twice, fallback="error")
    sizes = [3, 10, 70, 90, 300, 5, 200, 2]
    with contextlib.redirect_stdout(io.StringIO()), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(staged, sizes))
        expected = [printing_twice(n) for n in sizes]
    assert found == expected
    assert len(programs(staged)) == 1


def test_threads_leave_the_programs_that_serve() -> None:
    def shifted(x: Any, n: int) -> Any:
        return x + total_below(n)

    staged = pystage.compile(shifted, fallback="error")
    calls = [(shape, n) for n in (5, SMALL + 1, 70_000, 300_000) for shape in (1, 2, 3)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda call: staged(np.zeros(call[0]), call[1]).tolist(), calls))
    assert found == [[total(n)] * shape for shape, n in calls]
    assert len(programs(staged)) == len({s.takes for s in staged._dispatcher.staged})


def test_threads_print_what_they_print() -> None:
    """Lines of eight threads, told apart by a number."""

    def shout(key: int, n: int) -> float:
        print("a", key)
        found = total_below(n)
        print("b", key)
        return found + total_below(n * n)

    staged, output = pystage.compile(shout, fallback="error"), io.StringIO()
    with contextlib.redirect_stdout(output), ThreadPoolExecutor(8) as pool:
        list(pool.map(staged, range(8), [3, 10, 70, 90, 300, 5, 200, 2]))
    assert sorted(output.getvalue().split("\n")[:-1]) == sorted([f"{c} {k}" for k in range(8) for c in "ab"])


def scaled(x: Any, n: int) -> Any:
    return x * total_below(n)


def test_under_jax() -> None:
    staged = pystage.compile(scaled, fallback="error")
    jitted = jax.jit(staged)
    assert jitted(2.0, 3) == 6.0
    with pytest.raises(Exception, match="PS815"):
        jax.block_until_ready(jitted(2.0, 10))
        jax.effects_barrier()
    staged(2.0, 10)
    assert jax.jit(lambda x, n: staged(x, n))(2.0, 10) == 90.0
    assert jax.grad(staged)(2.0, 10) == 45.0
    assert jax.vmap(staged)(np.arange(3.0), np.arange(3) * 4).tolist() == [0.0, 6.0, 56.0]


def test_gradients() -> None:
    staged = pystage.grad(scaled)
    assert staged(2.0, 3) == 3.0
    assert staged(2.0, 100) == total(100)


def test_staged_gradients_and_maps() -> None:
    def inside(x: Any, n: int) -> Any:
        return pystage.grad(scaled)(x, n) + scaled(x, n + 1)

    staged = pystage.compile(inside, fallback="error")
    assert staged(2.0, 10) == 45.0 + 2.0 * 55.0


def test_ahead_of_time() -> None:
    staged = pystage.compile(total, fallback="error")
    compiled = staged.lower(3).compile()
    assert compiled(4) == 6.0
    with pytest.raises(pystage.StagingError, match="PS815"):
        compiled(5)
    staged(5)
    assert staged.lower(3).compile()(5) == 10.0


def test_draws_of_a_program_ahead_of_time() -> None:
    compiled = pystage.compile(drawing, fallback="error").lower(np.random.default_rng(0), 3).compile()
    generator = np.random.default_rng(3)
    before = generator.bit_generator.state
    with pytest.raises(pystage.StagingError, match="PS815"):
        compiled(generator, 5)
    assert generator.bit_generator.state == before


def test_partial_offload() -> None:
    def partly(x: Any, n: int) -> Any:
        found = 0.0
        for i in range(3):
            found += total_below(n + i) + x.sum()
        return json.dumps({"n": n}), found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        staged = pystage.compile(partly, fallback="lazy")
        assert staged(np.ones(2000), 30) == partly(np.ones(2000), 30)


# ---------------------------------------------------------------- what is told


def test_a_rerun_that_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a print the plain function must not run: it would print again."""
    staged = pystage.compile(printing_twice, fallback="lazy")
    assert staged(2) == 1.0 + 0.0
    plain = Dispatcher.specialise

    def refuse(self: Dispatcher, *args: Any) -> Any:
        raise pystage.StagingError((ValueNotGiven(span=None, path="n", reason="a test", given="no"),))

    monkeypatch.setattr(Dispatcher, "specialise", refuse)
    with contextlib.redirect_stdout(io.StringIO()) as output, pytest.raises(pystage.StagingError):
        staged(50)
    assert output.getvalue() == "one\n"
    monkeypatch.setattr(Dispatcher, "specialise", plain)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert staged(50) == printing_twice(50)


def test_the_ledger_and_the_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(n: int) -> float:
        return total_below(n)

    monkeypatch.setenv("PYSTAGE_LOG", "compiles")
    monkeypatch.setattr(ledger, "records_changes", True)
    staged = pystage.compile(told, fallback="error")
    with caplog.at_level(logging.INFO, logger="pystage"):
        staged(3)
        staged(5)
    account = ledger.account(*staged.identity)
    (change,) = account.compilations[1].changes
    assert str(change).startswith(
        f"capacity for the numbers: {INITIAL} → {SMALL} (it was exceeded, {__file__}:"
    )
    assert f"capacity for the numbers: {INITIAL} → {SMALL}" in caplog.text


def test_a_capacity_that_does_not_grow_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    note = Feedback.note_outgrown

    def forgetful(self: Feedback, outgrown: Any) -> Any:
        change = note(self, outgrown)
        self.capacities = {}
        return change

    monkeypatch.setattr(Feedback, "note_outgrown", forgetful)
    with pytest.raises(RuntimeError, match="of `total` exceeds its capacity again, which has not grown"):
        pystage.compile(total, fallback="error")(SMALL + 1)


def by_key(keys: Any, n: int) -> Any:
    found: list[list[float]] = [[] for _ in range(n)]
    for key in keys:
        found[key].append(1.5)
    return found


def by_key_in_a_dict(keys: Any, n: int) -> Any:
    found: dict[int, list[float]] = {key: [] for key in range(n)}
    for key in keys:
        found[key].append(1.5)
    return found


def by_computed_key(keys: Any, n: int) -> Any:
    found: list[list[float]] = [[] for _ in range(max(keys) + 1)]
    for key in keys:
        found[key].append(1.5)
    return found


@pytest.mark.parametrize("function", [by_key, by_key_in_a_dict, by_computed_key])
def test_few_lists_have_memory_for_few(function: Any) -> None:
    staged = pystage.compile(function, fallback="error", tier="compiled")
    for n in (2, 3, 0, 100):
        keys = np.arange(9000) % n if n else np.zeros(0, int)
        if n or function is not by_computed_key:
            assert staged(keys, n) == function(keys, n)
        if n == 2:
            (program,) = staged._dispatcher.staged
            lists = [c for c in program.program.capacities if c.site.what == "lists in a list"]
            assert sum(c.bytes for c in lists) < 1 << 25


def test_many_lists_share_what_comes_from_an_input(monkeypatch: Any) -> None:
    outgrown: list[Any] = []
    note = Feedback.note_outgrown
    monkeypatch.setattr(Feedback, "note_outgrown", lambda self, end: outgrown.append(end) or note(self, end))
    for n in (2, 40, 2000):
        staged = pystage.compile(by_key, fallback="error", tier="compiled")
        check(by_key, np.arange(30_000) % n, n, staged=staged, runs=1, interpreted=False)
        assert len(outgrown) <= 1
        outgrown.clear()


def counting(n: int) -> Any:
    found = []
    for i in range(n):
        found.append(i * i)
    return found


def repeated(x: Any, n: int) -> Any:
    found = [0] * (int(x[0]) + n)
    found[0] = 1
    return found


def test_the_first_capacity_is_that_of_the_call() -> None:
    staged = pystage.compile(counting, fallback="error", tier="compiled")
    for n, size in ((1000, 1024), (3, 1024), (1024, 1024), (0, 1024)):
        assert staged(n) == counting(n)
        assert programs(staged) == [size]
    assert not any(staged._dispatcher.staged[0].static)
    check(repeated, np.arange(3.0), 5000)
