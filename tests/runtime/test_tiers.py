"""Tiers: when a call runs plainly, when it is compiled, and that nobody can tell from what it does."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.compiler.infer.state.effort import Effort
from pystage.runtime import tiers
from pystage.runtime.dispatch import specialisation
from pystage.runtime.function import CompiledFunction

X = np.arange(6.0)


@pytest.fixture(autouse=True)
def _as_by_default(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    monkeypatch.setattr(pystage.config, "fallback", "lazy")
    yield


@pytest.fixture
def at_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling pays after the first call."""
    monkeypatch.setattr(tiers.Tiers, "price", 0.0)
    monkeypatch.setattr(tiers.Tiers, "least_deposit", 0.0)
    monkeypatch.setattr(tiers.Tiers, "budget", lambda self, kind, args: float("inf"))
    monkeypatch.setattr(tiers.Tiers, "note_compiling", lambda self, seconds: None)
    monkeypatch.setattr(tiers, "WORTH", float("inf"))
    monkeypatch.setattr(tiers.Tiers, "pays", lambda self, kind, args: kind.plain_calls > 0)


def halves(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] / 2
    return total


def programs(function: CompiledFunction[..., Any]) -> int:
    return len(function.signatures())


def test_a_function_is_compiled_once_its_plain_runs_have_cost_as_much() -> None:
    compiled = pystage.compile(halves)
    for _ in range(5):
        assert compiled(X) == halves(X)
    assert programs(compiled) == 0
    compiled.tiers.plain = 60.0
    for kind in compiled.tiers.all_kinds:
        kind.until = 0.0
    assert compiled(X) == halves(X)
    assert programs(compiled) == 1


def test_a_long_call_is_compiled_at_once() -> None:
    def rounds(n: int) -> float:
        total = 0.0
        for i in range(n):
            for j in range(n):
                total += i * j % 7
        return total

    compiled = pystage.compile(rounds)
    assert compiled(3) == rounds(3)
    assert programs(compiled) == 0
    assert compiled.tiers._outline is None  # a short call does not wait until the source is read
    assert compiled.tiers.outline.seconds((10_000,)) > compiled.tiers.price
    assert compiled.tiers.outline.seconds((10,)) < compiled.tiers.price
    compiled(3000)
    assert programs(compiled) == 1


def endless() -> list[Any]:
    itself: list[Any] = [1]
    itself.append(itself)
    return itself


@pytest.mark.parametrize(
    "argument",
    [{1: 2.0, "a": 3.0}, {6: 1.0, (1, 2): 2.0}, endless()],
    ids=["str", "tuple", "endless"],
)
def test_what_jax_cannot_flatten_is_an_argument_as_in_plain_python(argument: Any) -> None:
    assert pystage.compile(lambda x: len(x))(argument) == len(argument)


@pytest.mark.parametrize(
    "args",
    [(jnp.arange(3.0),), ([jnp.arange(3.0)],), ({1: [0], "a": {"b": jnp.arange(3.0)}},)],
    ids=["array", "list", "dict"],
)
def test_arrays_of_jax_are_compiled_at_once(args: tuple[Any, ...]) -> None:
    compiled = pystage.compile(lambda x: x)
    compiled(*args)
    assert programs(compiled) == 1


def test_calls_under_a_transformation_are_compiled_at_once() -> None:
    compiled = pystage.compile(lambda x: x * 2.0)
    assert jax.jit(compiled)(jnp.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert programs(compiled) == 1


def test_what_must_stage_is_compiled_at_once() -> None:
    compiled = pystage.compile(halves, fallback="error")
    compiled(X)
    assert programs(compiled) == 1


def test_the_tier_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    never = pystage.compile(halves, tier="plain")
    at_once = pystage.compile(halves, tier="compiled")
    never(X), at_once(X)
    assert (programs(never), programs(at_once)) == (0, 1)
    monkeypatch.setattr(pystage.config, "tier", "compiled")
    by_setting = pystage.compile(halves)
    by_setting(X)
    assert programs(by_setting) == 1
    monkeypatch.setenv("PYSTAGE_TIER", "plain")
    by_environment = pystage.compile(halves, tier="compiled")
    by_environment(X)
    assert programs(by_environment) == 0
    monkeypatch.setenv("PYSTAGE_TIER", "fast")
    with pytest.raises(ValueError, match="PYSTAGE_TIER must be one of auto, compiled, plain, not 'fast'"):
        by_environment(X)
    with pytest.raises(ValueError, match="tier must be one of 'auto', 'compiled', 'plain', not 'fast'"):
        pystage.compile(halves, tier="fast")  # type: ignore[call-overload]


def test_a_program_that_is_slower_is_given_up() -> None:
    compiled = pystage.compile(lambda x: x * 2 + 1)
    assert [compiled(1.5) for _ in range(3)] == [4.0] * 3
    compiled.tiers.plain = 60.0
    (kind,) = compiled.tiers.all_kinds
    for _ in range(6):
        kind.until = 0.0
        if compiled.tiers.job is not None:
            compiled.tiers.job.wait()
        assert compiled(1.5) == 4.0
    assert programs(compiled) == 1
    assert kind.given_up


def test_one_call_that_is_far_slower_is_enough() -> None:
    account = pystage.compile(halves).tiers
    for plain, program, given_up in ((1e-3, 0.2, True), (0.1, 0.2, False), (1e-6, 1e-3, False)):
        kind = tiers.Kind()
        kind.plain, kind.plain_calls = plain, 1
        account.note_run(kind, program)
        assert (kind.given_up, kind.settled) == (given_up, False)


def collected(n: int) -> list[float]:
    found = []
    i = 0
    while i < n:
        found.append(i * 0.5)
        i += 1
    return found


def test_a_capacity_that_was_exceeded_is_paid_for_already() -> None:
    compiled = pystage.compile(collected)
    account = compiled.tiers

    def call(n: int) -> None:
        for kind in account.all_kinds:
            kind.until = 0.0
        if account.job is not None:
            account.job.wait()
        assert compiled(n) == collected(n)

    call(64)
    account.plain = 60.0
    call(64), call(64)
    (kind,) = account.all_kinds
    assert (programs(compiled), account.compilations, kind.trials) == (1, 1, 1)
    account.compiling = 2.0  # more than XLA is expected to take, however loaded the machine is
    account.plain = account.compiling + account.price / 2
    call(120)
    assert account.job is not None  # though plain runs have not cost as much as a program again
    (seconds,) = account.outgrown
    assert account.cost == account.compiling + seconds
    assert [way.calls for way in compiled.usage().ways if way.name == "outgrown"] == [1]
    call(120)
    assert (programs(compiled), account.compilations, kind.outgrown) == (1, 2, False)
    account.plain = account.compiling - account.price / 2
    call(127), call(64)
    assert account.job is None


def test_inference_that_takes_too_long_is_given_up_until_twice_as_much_was_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = pystage.compile(halves)
    account = compiled.tiers
    compiled(X)
    (kind,) = account.all_kinds
    deposit = account.deposit
    monkeypatch.setattr(tiers.Tiers, "budget", lambda self, kind, args: 0.0)
    account.plain, kind.until = 1.5 * deposit, 0.0
    assert compiled(X) == halves(X)
    assert (programs(compiled), account.job) == (0, None)
    assert account.deposit == 2 * deposit
    monkeypatch.setattr(tiers.Tiers, "budget", lambda self, kind, args: 60.0)
    account.plain, kind.until = 1.9 * deposit, 0.0
    compiled(X)
    assert account.job is None
    usage = str(compiled.usage())
    assert "inference of types took too long; another attempt begins once plain runs have taken" in usage
    assert [way.calls for way in compiled.usage().ways if way.name == "given up"] == [1]
    assert "0 and 1 given up" in " ".join(pystage.lazy.report().split())
    account.plain, kind.until = 60.0, 0.0
    compiled(X)
    assert account.job is not None
    assert programs(compiled) == 1


@pytest.mark.parametrize("argument", [[0.5, 1] * 2_500, " ".join(["word"] * 5_000)], ids=["list", "text"])
def test_inference_asks_for_the_time_while_it_reads_long_data(
    argument: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []
    monkeypatch.setattr(Effort, "check_time", lambda self: times.append(0.0))
    words: Any = str.split if isinstance(argument, str) else list
    pystage.compile(lambda x: len(words(x))).staged(argument)
    assert len(times) > 5_000


def test_the_description_of_long_arguments_ends_in_time() -> None:
    compiled = pystage.compile(lambda *xs: xs[0], tier="compiled")
    with tiers.compiled_beside(float("inf")):
        assert tiers.patience() == float("inf")
    with tiers.compiled_beside(0.0), pytest.raises(tiers.NotReady):
        assert tiers.patience() <= 0.0
        compiled.dispatcher.describe(tuple(range(1_000)), {})


def drawn(x: np.ndarray) -> np.ndarray:
    return np.random.default_rng(3).random(6) * x


@pytest.mark.parametrize("function", [halves, drawn], ids=lambda each: each.__name__)
def test_xla_begins_once_plain_runs_have_cost_what_it_is_expected_to_take(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specialisation, "expected_seconds", lambda function, options: 50.0)
    monkeypatch.setattr(tiers, "_processor", tiers._now)
    compiled = pystage.compile(function)
    account = compiled.tiers

    def call(plain: float) -> bool:
        """Whether XLA begins in a call once plain runs have taken so long."""
        for kind in account.all_kinds:
            kind.until = 0.0
        account.plain = plain
        assert np.array_equal(compiled(X), function(X))
        return account.job is not None or account.compilations > 0

    assert not call(0.0) and programs(compiled) == 0
    assert not call(0.9 * account.deposit) and programs(compiled) == 0
    assert account.deposit < account.price
    assert not call(20.0)
    assert (programs(compiled), account.price, account.given_up) == (1, 50.0, [])
    assert "types are inferred; XLA is expected to take 50 s" in str(compiled.usage())
    assert not call(45.0)
    assert call(60.0)
    assert programs(compiled) == 1


def test_xla_is_expected_to_take_longer_on_a_processor_that_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([0.0, 8.0, 10.0, 18.0])
    processor = iter([0.0, 1.0, 1.0, 2.0])
    monkeypatch.setattr(tiers, "_now", lambda: next(times))
    monkeypatch.setattr(tiers, "_processor", lambda: next(processor))
    with tiers.compiled_beside(20.0):
        tiers.check_worth(lambda: 1.0)
    with tiers.compiled_beside(20.0), pytest.raises(tiers.NotReady) as found:
        tiers.check_worth(lambda: 2.0)
    assert found.value.xla == 16.0


def total(values: list[float], n: int) -> float:
    found = 0.0
    for i in range(n):
        found += values[i % len(values)] * i
    return found


@pytest.mark.usefixtures("at_no_price")
def test_a_program_given_up_for_small_arguments_is_tried_for_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "WORTH", 1.15)
    compiled = pystage.compile(total)
    values = [0.5, 0.25]
    for n in (10, 10, 10, 10, 10, 5, 5, 200_000, 200_000, 200_000, 200_000, 200_000, 10, 300_000):
        assert compiled(values, n) == total(values, n)
    (kinds,) = compiled.tiers.kinds.values()
    found = {size: (kind.given_up, kind.settled, kind.trials) for size, kind in kinds.by_size.items()}
    assert found == {
        4: (True, False, 3),
        3: (True, False, 0),  # what is slower for more is not tried for less
        18: (False, True, 3),
        19: (False, False, 1),  # and what is faster for less is taken for more
    }


def test_a_program_given_up_is_tried_again_where_plain_runs_grow_longer() -> None:
    account = tiers.Tiers(halves, None, pystage.compile(halves).recursive_runs, compiling=1.0, compilations=1)
    kind = tiers.Kind(usual=0.01)
    kind.best, kind.trials = 0.02, 3
    for seconds, calls, given_up in ((1.0, 100, True), (1.0, 30, True), (1.0, 20, False)):
        kind.plain += seconds
        kind.plain_calls += calls
        account.take_stock(kind)
        assert kind.given_up == given_up
    assert account.plain == 1.0
    assert kind.trials == 0


def test_a_recursive_function_is_counted_once() -> None:
    @pystage.compile
    def steps(n: int) -> int:
        return 0 if n == 0 else 1 + steps(n - 1)

    for _ in range(20):
        assert steps(30) == 30
    (kind,) = steps.tiers.all_kinds
    assert kind.plain_calls == 20


@pytest.mark.usefixtures("at_no_price")
def test_new_shapes_run_plainly_first() -> None:
    compiled = pystage.compile(halves)
    assert [compiled(np.arange(float(n))) for n in (3, 3, 4, 5)] == [1.5, 1.5, 3.0, 5.0]


@pytest.mark.usefixtures("at_no_price")
def test_what_cannot_be_staged_is_told_when_it_is_tried() -> None:
    def opened(x: np.ndarray) -> str:
        return str(memoryview(x.tobytes())[:1].tolist())

    compiled = pystage.compile(opened)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = compiled(X)
    with pytest.warns(pystage.FallbackWarning):
        assert compiled(X) == first
    assert compiled(X) == first


def test_the_report_says_how_functions_run() -> None:
    compiled = pystage.compile(halves)
    for _ in range(3):
        compiled(X)
    report = " ".join(pystage.lazy.report().split())
    assert "halves 3 0.00 0 0.00 plainly: compiling is expected to take" in report
    (kind,) = compiled.tiers.all_kinds
    kind.settled = True
    assert "halves 3 0.00 0 0.00 as programs" in " ".join(pystage.lazy.report().split())


class Counter:
    def __init__(self) -> None:
        self.seen: list[float] = []
        self.total = 0.0


def changes(counter: Counter, x: np.ndarray) -> np.ndarray:
    counter.seen.append(float(x[0]))
    for i in range(len(x)):
        x[i] = x[i] + counter.total
    counter.total += 1.0
    return x[1:]


def prints(x: np.ndarray) -> float:
    total = 0.0
    for i in range(3):
        print(i, x[i] * 2)
        total += x[i]
    return total


def draws(x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    if x[0] > 0.5:
        return x + generator.random(6)
    x[0] += 0.25
    return x * generator.integers(0, 10, 6)


def raises(x: np.ndarray) -> float:
    x[1] += 1.0
    if x[1] > 3.5:
        raise ValueError(f"too large: {x[1]}")
    return x[1]


def grows(x: np.ndarray, n: int) -> list[float]:
    found = []
    while len(found) < n * n:
        found.append(x[len(found) % 6])
    return found


WHOLE: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (changes, lambda: (Counter(), X.copy())),
    (prints, lambda: (X.copy(),)),
    (draws, lambda: (X.copy(), np.random.default_rng(3))),
    (raises, lambda: (X.copy(),)),
    (grows, lambda: (X.copy(), 3)),
]


def contents(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return vars(value) if isinstance(value, Counter) else value


def outcomes_of(function: Callable[..., Any], args: tuple[Any, ...], capsys: Any) -> list[Any]:
    """What six calls in a row give, raise and print, and what they leave of the arguments."""
    found: list[Any] = []
    for _ in range(6):
        try:
            made: Any = copy.deepcopy(function(*args))
        except ValueError as error:
            made = type(error), str(error)
        found.append((made, [contents(a) for a in copy.deepcopy(args)]))
    found.append(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize(("function", "arguments"), WHOLE, ids=lambda each: getattr(each, "__name__", ""))
def test_the_change_of_tier_is_not_seen(
    function: Callable[..., Any],
    arguments: Callable[[], tuple[Any, ...]],
    at: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers.Tiers, "price", 0.0)
    monkeypatch.setattr(tiers.Tiers, "least_deposit", 0.0)
    monkeypatch.setattr(tiers.Tiers, "budget", lambda self, kind, args: float("inf"))
    monkeypatch.setattr(tiers.Tiers, "pays", lambda self, kind, args: kind.plain_calls >= at)
    monkeypatch.setattr(tiers, "WORTH", float("inf"))
    plain = outcomes_of(function, arguments(), capsys)
    compiled = pystage.compile(function)
    found = outcomes_of(compiled, arguments(), capsys)
    assert programs(compiled) > 0
    assert repr(found[-1]) == repr(plain[-1])
    assert all(str(a) == str(b) for a, b in zip(found, plain, strict=True)), (found, plain)


class Adder:
    @pystage.compile(fallback="error", tier="compiled")
    def add(self, x: float) -> Any:
        return x + 1.0, RUNS.append("add")


RUNS: list[str] = []


def square(x: float) -> Any:
    if RUNS:
        RUNS.append("square")
    return x * x


def test_everything_runs_plainly_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "RUNS", [])
    compiled = pystage.compile(square, fallback="error", tier="compiled")
    assert compiled(3.0) == 9.0 and programs(compiled) == 1
    with pystage.plain():
        with pystage.plain():
            assert Adder().add(1.0) == (2.0, None)
        assert compiled(3.0) == 9.0 and RUNS == ["add", "square"]
        assert pystage.grad(lambda x: x * x)(3.0) == 6.0
    monkeypatch.setenv("PYSTAGE_TIER", "plain")
    fresh = pystage.compile(square, fallback="error", tier="compiled")
    assert fresh(3.0) == 9.0 and programs(fresh) == 0 and RUNS[2:] == ["square"]


def test_what_counts_calls_counts_them_after_a_plain_block(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pystage.CompiledFunction.__call__
    counted: list[Any] = []

    def counting(self: Any, *args: Any) -> Any:
        counted.append(args)
        return run(self, *args)

    monkeypatch.setattr(pystage.CompiledFunction, "__call__", counting)
    compiled = pystage.compile(square)
    with pystage.plain():
        compiled(2.0)
    compiled(3.0)
    assert counted == [(3.0,)]


def test_keyword_arguments_may_have_any_names() -> None:
    @pystage.compile(tier="compiled")
    def total(**numbers: float) -> float:
        return sum(numbers.values())

    def call() -> float:
        return total(self=1.0, function=2.0, args=4.0, kwargs=8.0)

    assert call() == 15.0
    with pystage.plain():
        assert call() == 15.0
