"""What inference costs is counted, not timed: passes, functions, instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.infer.state import constants
from pystage.compiler.infer.state.retry import Retry
from tests.checking import check

from .engines import Watch


def six_levels(x, n):
    total = 0
    for a in range(n):
        for b in range(n):
            for c in range(n):
                for d in range(n):
                    for e in range(n):
                        for f in range(n):
                            total = total + x[a] * (b + c + d + e + f)
                            x[f] = x[f] + 1.0
    return total


def test_nesting_does_not_multiply_the_passes() -> None:
    watch = Watch(six_levels, np.ones(3), 2)
    assert len(watch.body_passes) == 6
    assert max(watch.body_passes) <= 4
    check(six_levels, np.ones(3), 2, interpreted=False)


def six_levels_with_containers(x, n):
    found = []
    seen = {}
    for a in range(n):
        for b in range(n):
            for c in range(n):
                for d in range(n):
                    for e in range(n):
                        for f in range(n):
                            v = x[f] * (a + b + c + d + e)
                            if v > 3.5 and a not in seen:
                                found.append(v)
                                seen[f] = v
    return found, seen


def test_a_loop_begins_with_what_it_carried_in_the_pass_before_of_the_loop_around_it() -> None:
    """With each level around it a loop gets one pass more, and not twice as many."""
    watch = Watch(six_levels_with_containers, np.ones(3), 2)
    assert len(watch.body_passes) == 6
    assert max(watch.body_passes) <= 8
    check(six_levels_with_containers, np.ones(3), 2, interpreted=False)


def axis_in_a_while_loop(x, m):
    n = 0
    while x[n] > 0:
        x = np.sum(m, axis=n % 2) * x
        n += 1
    return x


def test_a_while_loop_that_only_the_run_enters_is_not_tried_written_out(monkeypatch: Any) -> None:
    restarts: list[Any] = []
    monkeypatch.setattr(Retry, "__init__", lambda self, reason: restarts.append(reason))
    check(axis_in_a_while_loop, np.ones(3), np.ones((3, 3)), refused="PS401")
    assert not restarts


def settling_late(x, n):
    total = 0
    previous = 0
    for i in range(n):
        for _ in range(n):
            total = total + previous
            previous = x[i]
    return total


def test_types_that_settle_late_stay_within_the_passes() -> None:
    """The inner loop certainly runs within the outer one, and the first trips of both stand apart."""
    assert max(Watch(settling_late, np.ones(3, np.float32), 3).body_passes) <= 12
    check(settling_late, np.ones(3, np.float32), 3)


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w @ x)


def chain(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def test_a_layer_used_sixteen_times_is_one_function() -> None:
    layers = [Layer(np.full((3, 3), 0.1 * i)) for i in range(16)]
    watch = Watch(chain, layers, np.ones(3))
    assert watch.callees.count("call") == 1
    assert watch.callees == ["call"]
    check(chain, layers, np.ones(3))


def aliased(a, b):
    a[0] = 1.0
    b[0] = b[0] + 2.0
    return a[0] + b[0]


def both_ways(x, y):
    return aliased(x, y), aliased(x, x)


def test_aliased_arguments_are_another_callee() -> None:
    watch = Watch(both_ways, np.zeros(2), np.zeros(2))
    assert len([name for name in watch.callees if name.startswith("aliased")]) == 2
    check(both_ways, np.zeros(2), np.zeros(2))


RATES = [3.0, 1.0, 2.0]


def rate_of(x, first):
    return RATES[int(np.argmax(x)) % 3] + RATES[first % 3]


def rates(x, y, z):
    return rate_of(x, int(y[0])), rate_of(y, int(z[0])), rate_of(z, int(x[0]))


def known_rates(x, y):
    return rate_of(x, int(y[0])), rate_of(x, 1), rate_of(y, int(x[0]))


def test_a_callee_that_indexes_by_what_it_computes_is_one_function() -> None:
    """That its argument is computed in the caller, too, each call of a summary must have in common."""
    check(rates, np.arange(3.0), np.arange(4.0)[1:], np.arange(5.0)[2:])
    watch = Watch(rates, np.arange(3.0), np.arange(4.0)[1:], np.arange(5.0)[2:])
    assert [name for name in watch.callees if name.startswith("rate_of")] == ["rate_of"]
    check(known_rates, np.arange(3.0), np.arange(4.0)[1:])


def ten(x):
    for _ in range(10):
        x = x * 1.5
    return x


def ten_million(x):
    for _ in range(10_000_000):
        x = x * 1.5
    return x


def test_a_rolled_loop_has_one_size() -> None:
    sizes = [pystage.compile(f).lower(1.0).instruction_counts() for f in (ten, ten_million)]
    assert (sizes[0].entry, sizes[0].total) == (sizes[1].entry, sizes[1].total)


def flags(x, names):
    done = False
    for name in names:
        if not done:
            x = x + len(name)
        if name == "stop":
            done = True
    return x


def test_flags_that_are_constant_vanish() -> None:
    counts = pystage.compile(flags).lower(1.0, ("a", "stop", "b")).instruction_counts()
    assert "conditional" not in counts.by_opcode
    check(flags, 1.0, ("a", "stop", "b"))


SHAPES: list[Callable[[Any], Any]] = [
    lambda n: np.zeros(n),
    lambda n: np.zeros((n, 2)).sum(axis=n - 3),
    lambda n: [1.0, 2.0, 3.0, 4.0][n],
]


@pytest.mark.parametrize("function", SHAPES)
def test_a_demanded_argument_becomes_a_constant(function: Callable[[Any], Any]) -> None:
    watch = Watch(function, 3)
    assert len(watch.engines) == 2
    assert [d.value for d in watch.lowered.staged.demands] == [3]
    check(function, 3)


def unrolled(x):
    parts = (1.0, "a", 3.5)
    total = x
    for i in range(0, 3, 2):
        total = total * parts[i]
    return total


def test_an_index_that_must_be_known_unrolls_its_loop() -> None:
    watch = Watch(unrolled, 2.0)
    assert len(watch.engines) == 1
    assert "while" not in watch.lowered.instruction_counts().by_opcode
    check(unrolled, 2.0)


def greedy(dist):
    left = set(range(1, len(dist)))
    tour, names = [0], ["0"]
    while left:
        nearest = min(left, key=lambda c: dist[tour[-1], c])
        tour.append(nearest)
        names.append(str(list(left)))
        left.remove(nearest)
    return tour, names


def greedy_from_each(dist):
    return [greedy(dist) for _ in range(len(dist))]


@pytest.mark.parametrize("function", [greedy, greedy_from_each])
def test_a_loop_whose_end_is_refused_is_not_written_out_further(function: Callable[[Any], Any]) -> None:
    watch = Watch(function, np.ones((4, 4)), refused="PS401")
    assert watch.trips[-1] <= 2


def counted_down(x):
    left = [1.0, range(2), 3.5]
    while left:
        each = left.pop()
        x = x if isinstance(each, range) else x * each
    return x


def test_a_loop_whose_end_is_known_is_written_out() -> None:
    assert Watch(counted_down, 2.0).trips == [3]
    check(counted_down, 2.0)


def smallest_again(x, times):
    xs = [("0", x), ("1", x + 1.0)]
    while len(xs) < times:
        xs.append((str(len(xs)), min([y for _, y in xs], key=lambda each: each * x)))
    return xs


def test_operations_that_are_there_already_count_as_steps() -> None:
    steps = [Watch(lambda x, n=n: smallest_again(x, n), 0.5).engines[-1].effort.steps for n in (20, 40, 80)]
    assert steps[2] - steps[1] > 3 * (steps[1] - steps[0])  # each trip compares all elements once more


def best_window(prices, fasts, slows):
    results = {}
    best = None
    for fast in fasts:
        for slow in slows:
            if fast >= slow:
                continue
            total, equity = 0.0, [1.0]
            mean = np.cumsum(prices)[slow:] / fast
            for t in range(1, len(prices)):
                if prices[t] > mean[-1]:
                    total += prices[t] * fast
                equity.append(total)
            results[fast, slow] = (total, max(equity))
            if best is None or results[fast, slow][0] > results[best][0]:
                best = (fast, slow)
    return best, results[best], len(results)


@pytest.mark.parametrize("fasts", [[3], [1, 2, 3, 4]])
def test_an_inference_too_large_begins_again_with_the_numbers_that_it_asked_for(fasts: list[int]) -> None:
    """The sizes of slices are asked for in a first inference that goes on with the other numbers as inputs."""
    check(best_window, np.arange(12.0), fasts, [2, 4, 6, 8])


def test_a_grid_without_windows_has_no_best_one() -> None:
    with pytest.raises(KeyError):
        pystage.compile(best_window, fallback="error")(np.arange(12.0), [], [2, 4, 6, 8])


def test_what_depends_on_many_parameters_is_asked_for_at_once(monkeypatch):
    """Each evaluation begins with the parameters: one for every few of them would be quadratic."""

    def of_sizes(sizes):
        return np.zeros(sum(sizes))

    evaluated = []
    plain = constants._evaluated
    monkeypatch.setattr(constants, "_evaluated", lambda *args: evaluated.append(None) or plain(*args))
    counts = []
    for n in (200, 400):
        evaluated.clear()
        pystage.compile(of_sizes, fallback="error").staged([1] * n)
        counts.append(len(evaluated))
    assert counts[1] < 2.2 * counts[0]


class Estimate:
    def __init__(self, n):
        self.x = np.zeros(n)

    def predict(self):
        self.x = self.x * 0.5
        return self.x


def filtered(zs):
    """Each trip appends arrays that a variable and an attribute hold, too."""
    state = Estimate(zs.shape[1])
    predicted, corrected = [], []
    for z in zs:
        x = state.predict()
        predicted.append(x)
        if z[0] > 0:
            state.x = state.x + z
        corrected.append(state.x)
    return np.array(predicted), np.array(corrected), x, state.x


def test_a_loop_that_appends_arrays_that_others_hold_stays_rolled():
    rng = np.random.default_rng(0)
    check(filtered, rng.normal(size=(12, 2)))
    sizes = [
        len(list(pystage.compile(filtered).staged(rng.normal(size=(n, 2))).function.body.walk()))
        for n in (40, 80)
    ]
    assert sizes[0] == sizes[1]


WORDS = [f"word {i}" + " of so many letters" * 3 for i in range(4000)]


def of_each_word(x):
    for word in WORDS:
        for letter in word:
            if letter == "w":
                x = x + len(word)
    return x


def test_what_all_trips_take_is_foreseen_after_the_first_ones() -> None:
    watch = Watch(of_each_word, np.ones(3), refused="PS404")
    assert watch.engines[-1].effort.steps < 5_000


def up_to_a_word(x):
    for word in WORDS:
        for letter in word:
            if letter == "w":
                x = x + len(word)
        if word == WORDS[5]:
            break
    return x


def test_a_loop_that_is_left_early_is_not_foreseen() -> None:
    check(up_to_a_word, np.ones(3))


def of_each_answer(x):
    for word in WORDS:
        if len(word) > 2:
            x = x + len(input(word))
    return x


def test_a_loop_with_a_refused_trip_is_not_written_out_further() -> None:
    watch = Watch(of_each_answer, np.ones(3), refused="PS601")
    assert watch.trips == [2]


def reordered(xs, n):
    kept = [xs[0], xs[1], xs[2], xs[3]]
    values = [x[0] for x in kept]
    for _ in range(n):
        places = np.argsort(values)
        kept = [kept[i] for i in places]
        values = [values[i] for i in places]
        new = kept[-1] - 3.0
        if new[0] < values[0]:
            kept[-1], values[-1] = new, new[0]
        elif new[0] < values[1]:
            kept[-2] = new
        else:
            for i in range(1, 4):
                kept[i] = kept[0] + kept[i]
                values[i] = kept[i][0]
    return kept, values


def test_which_object_a_name_is_is_computed_once_however_many_numbers_select_it() -> None:
    xs = [np.array([3.0, 1.0]), np.array([1.0, 4.0]), np.array([2.0, 0.0]), np.array([7.0, 0.0])]
    watch = Watch(reordered, xs, 5)
    assert watch.engines[-1].effort.steps < 15_000
    check(reordered, xs, 5)
