"""Draws of which only the run decides whether they happen, or with what arguments: by the program itself.

Bit for bit those of the plain run, and the generator of the caller in the state that it leaves.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check, state_of
from pystage.compiler.library.numpy.random import pcg64, program_draws
from pystage.compiler.values.generators import IN_PROGRAM, set_words, words_of


def generator(seed=0, half=False):
    """A generator; with `half` a word is left over from a draw of 32 bits."""
    made = np.random.default_rng(seed)
    if half:
        made.random(dtype=np.float32)
    return made


RNG = generator(7)
cases = Cases()
V = np.arange(12.0)


@cases.each(*[(generator(s, s == 1), x) for s in range(2) for x in (-1.0, 0.5, 3.0)])
def under_if(rng, x):
    first = rng.random()
    if x > 0:
        first = first + rng.random() * 2.0
        if rng.random() < x:
            return first, rng.random(3), rng.random((2, 0)), rng.random(dtype=np.float32)
    return first, rng.random(2), np.zeros((2, 0)), 0.0


@cases.each((generator(4), V), (generator(4, True), V[:4]))
def shuffled_of_computed_number(rng, v):
    large = v[v > 3]
    rng.shuffle(large)
    return large, rng.random()


@cases.each(*[(generator(4), x) for x in (0.0, 0.5, 0.95)])
def in_while(rng, x):
    count, total = 0, 0.0
    while (drawn := rng.random()) < x:
        count += 1
        total = total + drawn
    return count, total, rng.random()


@cases.each((generator(4), 0.1), (generator(4), 0.9), (generator(4), 2.0))
def with_break(rng, x):
    for i in range(20):
        for _ in range(3):
            rng.random()
        if rng.random() > x:
            break
    return i, rng.random()


@cases.each((generator(4, True), 0.1), (generator(4), 0.8))
def arrays(rng, x):
    found = np.zeros(200)
    while x < 2.0:
        x = x + rng.random()
        found = np.maximum(found, rng.random(200))
    return (
        found,
        rng.random(1),
        rng.random(0),
        rng.random(65),
        rng.random((3, 50)),
        rng.random(3, dtype=np.float32),
    )


@cases.each((generator(4), 0.25, V / 2.0), (generator(5), 3.0, V))
def uniform(rng, x, v):
    found = np.zeros(100)
    i = 0
    while i < 100:
        found[i] = rng.uniform(x, x + 2.0 * i)
        i += 1
    if rng.random() < x:
        return found, rng.uniform(), rng.uniform(-x, size=(2, 3)), rng.uniform(v, v + 1.0)
    return found, 0.0, rng.uniform(-x, x, (2, 3)), rng.uniform(v, 20.0)


@cases(generator(1), 300)
def uniform_between_constants(rng, n):
    found, places, i = np.zeros((n, 5)), np.zeros((n, 60)), 0
    while i < n:
        found[i, 0] = rng.uniform(-1e5, 3.7)
        places[i, :50] = rng.permutation(50)
        if rng.random() < 0.3:
            places[i, 50:57] = rng.choice(50, 7, replace=False)
        if rng.random() < 0.3:
            found[i, 1] = rng.choice(20000)
            found[i, 2] = rng.choice(50, 3)[0]
        i += 1
    return found, places


@cases.each((generator(4), np.array([[1.0, 2.0], [3.0, 5.0]])))
def limits_that_are_views(rng, x):
    return rng.uniform(x[0], x[1], (2, 2)), rng.uniform(*x.T), rng.integers(1, 9)


@cases.each((generator(4), 7), (generator(5, True), 1000))
def integers(rng, n):
    found = np.zeros(100, np.int64)
    i = 0
    while i < 100:
        found[i] = rng.integers(0, i + 1)
        i += 1 + int(rng.integers(2) == 0)
    return (
        found,
        rng.integers(n - 3, n + 5),
        rng.integers(0, n * 2**33, 5),
        rng.integers(n, size=(2, 3)),
        rng.integers(0, np.arange(1, 5) * n),
        rng.integers(0, n, endpoint=True),
        rng.integers(0, 3 * 2**61, size=9),
        rng.integers(0, 3 * 2**30, size=9),
        rng.integers(0, 2**32, size=3),
        rng.integers(-(2**63), 2**63 - 1, size=3, endpoint=True),
        rng.integers(n, n + 1),
        rng.integers(n, size=0),
    )


@cases.each((generator(4), 0.1, V), (generator(5, True), 0.8, V.reshape(3, 4)))
def permutations(rng, x, v):
    times = 0
    while x < 0.9:
        x = rng.random()
        times += 1
        rng.shuffle(v)
    return times, v.copy(), rng.permutation(5), rng.permutation(v), rng.permuted(v), rng.permuted(v, axis=0)


@cases.each((generator(4), 0.1), (generator(5), 0.7))
def a_list(rng, x):
    numbers = [1, 2, 3, 4]
    while x < 0.9:
        x = rng.random()
        rng.shuffle(numbers)
    return numbers


@cases.each((generator(4), 0.1, V, V + 1.0), (generator(5, True), 0.9, V[:5], V[:5] + 2.0))
def choices(rng, x, v, weights):
    total = 0.0
    while x < 0.8:
        x = rng.random()
        total = total + rng.choice(v) + rng.choice(5)
    p = weights / np.sum(weights)
    return (
        total,
        rng.choice(v, 3),
        rng.choice(v, 3, replace=False),
        rng.choice(v, 3, replace=False, shuffle=False),
        rng.choice(len(v), p=p),
        rng.choice(v, (2, 2), p=p),
        rng.choice(len(v), 4, p=p, replace=False),
        rng.choice([1, 2, 3]),
        rng.choice(v, size=()),
        rng.choice(20_000, 3, replace=False),
    )


@cases.each((generator(4), V * V), (generator(5, True), V[:3]))
def of_computed_length(rng, v):
    total = 0.0
    for i in range(len(v)):
        others = np.delete(np.arange(len(v)), i)
        a, b = v[rng.choice(others, 2, replace=False)]
        total = max(total, a - b) + rng.choice(others) * 0.5
    return total


class Walker:
    def __init__(self, rng):
        self.rng = rng
        self.steps = 0

    def step(self):
        self.steps += 1
        if self.rng.random() < 0.5:
            return 1
        return -int(self.rng.integers(1, self.steps + 1))


@cases.each((generator(4), 3), (generator(5), 6))
def in_methods(rng, end):
    walker = Walker(rng)
    place = 0
    while abs(place) < end and walker.steps < 50:
        place += walker.step()
    return place, walker.steps


@cases.each((0.9, 3), (0.5, 4))
def made_inside(x, seed):
    rng, known = np.random.default_rng(seed), np.random.default_rng(5)
    count = 0
    while rng.random() < x:
        count += int(known.integers(0, count + 2))
    if count > 2:
        known = np.random.default_rng(6)
        count += int(known.integers(9))
    return count, rng, known, known.random()


@cases.each((0.9, 3))
def one_bit_generator(x, seed):
    bits = np.random.PCG64(seed)
    first, second = np.random.Generator(bits), np.random.Generator(bits)
    count = 0
    while first.random() < x:
        count += 1
    return count, second.random(), first.random(), first, second


@cases.each((generator(1), generator(2), 0.9), (generator(1), generator(2), 0.1))
def two(a, b, x):
    early = b.standard_gamma(2.0)
    while a.random() < x:
        x -= 0.01
    return early, x, b.standard_gamma(2.0), a.random()


@cases.each((generator(1), 1.0), (generator(1), -1.0))
def one_of_two(rng, x):
    other = np.random.default_rng(0)
    chosen = rng if x > 0 else other
    return chosen.random(), rng.random(), other.random()


def of_the_environment(x):
    count = 0
    while RNG.random() < x:
        count += 1
    return count


@cases.each((generator(3), 0.95))
def nested(rng, x):
    def draw(scale):
        return rng.random() * scale if x > 0.5 else 0.0

    found = [draw(1.0)]
    while found[-1] < x:
        found.append(draw(1.0))
    return found


@cases.each((generator(3), 4))
def triangle(rng, n):
    total = 0
    for i in range(1, n + 3):
        for j in range(i):
            if (i + j) % 2 or rng.random() < 0.5:
                total += int(rng.integers(0, i + 1))
    return total


@cases.each((generator(4), 0.9, V), (generator(5, True), 0.1, V))
def unusual_sizes_and_limits(rng, x, v):
    while rng.random() < x:
        x -= 0.1
    return (
        rng.random([2, 3]),
        rng.random(np.int64(2)),
        rng.random(3, out=v[:3]),
        rng.uniform(v[0], v[0] + 1.0, ()),
        rng.uniform(v, v + 1.0, (2, 12)),
        rng.integers(5, dtype=int),
        rng.integers(v[5] + 0.7),
        rng.integers(np.array([-200, -3], np.int16), np.int8([-128, 5])),
        rng.integers(v.astype(int) + 1, size=(2, 12)),
        rng.integers(5, 5, size=0),
        rng.choice(3, size=(), p=[0.5, 0.5, 0.0]),
        rng.choice(v[:3], p=np.float16([0.3, 0.3, 0.402])),
    )


@cases.each(*[(generator(4), 0.9, np.zeros(shape)) for shape in ((3, 0), (0, 3), (0,))])
def without_elements(rng, x, v):
    while rng.random() < x:
        x -= 0.1
    rng.shuffle(v)
    return rng.permuted(v, axis=0), rng.permutation(v)


@cases.each((generator(1), 0.9), (generator(2), 0.1))
def of_matrices(rng, x):
    m = np.arange(12.0).reshape(4, 3)
    while rng.random() < x:
        x -= 0.1
    rng.shuffle(m, axis=1)
    rng.shuffle(m.T)
    rng.shuffle(m[1:3])
    rng.shuffle(m[:, 1])
    return m, rng.permuted(m), rng.choice(m), rng.choice(m, 2, axis=1), rng.permutation(m, axis=-1)


@cases.each((generator(1), V), (generator(2), V[:6]))
def of_computed_lengths(rng, v):
    found = v[v > 3.5]
    rng.shuffle(found)
    return found, rng.permutation(found), rng.permuted(found), rng.choice(found, 2, replace=False)


@cases.each((generator(1), V - 6.0), (generator(1), -V), (generator(1), V[:0]))
def in_expressions(rng, v):
    drawn = [rng.random() for a in v if a > 0]
    count = 0
    for a in v:
        if a > 0 and rng.random() < 0.5 or rng.random() < 0.2:
            count += 1
    return drawn, count, rng.uniform() if count > 2 else -rng.uniform(1.0, 2.0)


@cases.each(([generator(1), generator(2), generator(3)], {"a": generator(4), "b": generator(5)}, 2.0))
def in_containers(rngs, named, x):
    i, total = 0, 0.0
    while total < x:
        total += rngs[i % 3].random() + named["a"].uniform(0.0, 0.1)
        i += 1
    return i, total, named["b"].integers(9)


@cases.each((Walker(generator(1)), 5), (Walker(generator(2)), 2))
def held_by_an_object(walker, end):
    place = 0
    while abs(place) < end and walker.steps < 50:
        place += walker.step()
    return place, walker.rng.random()


@cases.each((generator(1), 0.9), (generator(2), 0.1))
def under_several_names(rng, x):
    other, walker, draw = np.random.default_rng(rng), Walker(rng), rng.random
    while other.random() < x:
        x -= 0.1 * draw()
    return walker.step(), other is rng, rng


def _to_the_leaves(rng, depth):
    if depth <= 0:
        return 0.0
    return rng.random() + _to_the_leaves(rng, depth - (2 if rng.random() < 0.3 else 1))


@cases.each((generator(1),), (generator(2),))
def recursive(rng):
    return _to_the_leaves(rng, 4)


@pytest.mark.parametrize("program, args, options", cases.params)
def test_draws(program, args, options):
    check(program, *args, tolerance=0.0, interpreted=False, **options)


def test_the_state_of_a_captured_generator():
    called = pystage.compile(of_the_environment)
    for seed in (1, 2):
        RNG.bit_generator.state = generator(seed).bit_generator.state
        plain = of_the_environment(0.9), RNG.random()
        RNG.bit_generator.state = generator(seed).bit_generator.state
        assert (called(0.9), RNG.random()) == plain


def test_calls_go_on_where_the_last_one_ended():
    called, plain, staged = pystage.compile(in_while), generator(4), generator(4)
    for _ in range(5):
        assert called(staged, 0.8) == in_while(plain, 0.8)
        assert state_of(staged) == state_of(plain)


def raises(rng, x):
    total = 0.0
    while total < 5.0:
        total = total + rng.random()
        if total > x:
            raise ValueError(total)
    rng.random()
    return total


@pytest.mark.parametrize("x", [0.0, 2.0, 9.0])
def test_what_is_drawn_before_an_exception_counts(x):
    check(raises, generator(4), x, raises=ValueError if x < 5.0 else None, interpreted=False)


def bad_limits(rng, n, x):
    first = rng.random()
    if first < 2.0:
        found = rng.integers(n - 4, n - 4 if x < 0 else n)
        return found + rng.uniform(x, 1.0)
    return first


@pytest.mark.parametrize("x", [0.5, -1.0, 2.0])
def test_arguments_that_are_not_allowed(x):
    error = None if x == 0.5 else ValueError
    check(bad_limits, generator(4), 6, x, raises=error, interpreted=False)


def grows(rng, x):
    found = []
    while (drawn := rng.random()) < x:
        found.append(drawn)
    return found, rng.integers(0, len(found) + 1)


def test_a_run_that_is_executed_again_begins_with_the_same_state():
    called = pystage.compile(grows)
    for x in (0.5, 0.99, 0.999):
        check(grows, generator(4), x, staged=called, interpreted=False)


def test_generators_that_share_a_bit_generator():
    def program(a, b, x):
        while a.random() < x:
            x -= 0.01 * b.random()
        return x, a.random(), b.random()

    called = pystage.compile(program)
    for _ in range(2):
        for share in (False, True):
            results = []
            for function in (program, called):
                a = generator(3)
                b = np.random.Generator(a.bit_generator) if share else generator(4)
                results.append((function(a, b, 0.9), state_of(a), state_of(b)))
            assert results[0] == results[1]


class Noisy:
    def __init__(self, rng, sigma):
        self.rng, self.sigma = rng, sigma

    def run(self, x):
        for _ in range(4):
            x = x * 0.5 + self.rng.normal(0.0, self.sigma)
        return x


def test_a_gradient_of_an_object_with_a_generator():
    """A copy of a generator whose state the program has is not handed back."""

    def run(noisy, x):
        return noisy.run(x)

    with pytest.raises(pystage.StagingError, match="PS504"):
        pystage.grad(run)(Noisy(generator(), 0.5), 3.0)


def draws_of_computed_sizes(x, seed):
    rng = np.random.default_rng(seed)
    n = np.count_nonzero(x > 0)
    y = x[x > 0]
    each = []
    for v in x:
        k = int(abs(v))
        each.append(rng.random(k).sum() + rng.normal(0, 1, size=k).sum())
    several = rng.integers(0, 10, n), rng.uniform(-1, 2, size=(n, 2)), rng.exponential(2.0, n)
    chosen = rng.choice(x, size=n), rng.choice(len(x), n, replace=True)
    return each, several, chosen, y * rng.random(y.shape), rng.standard_normal(n), rng.random()


@pytest.mark.parametrize("x", [np.array([1.0, -2.0, 3.0, 0.0, 2.0, 3.0]), np.arange(70.0) - 7, -np.ones(3)])
def test_draws_of_computed_sizes(x):
    check(draws_of_computed_sizes, x, 3)


def test_a_computed_size_below_zero():
    def fewer(x, seed):
        return np.random.default_rng(seed).random(np.count_nonzero(x) - 3)

    check(fewer, np.ones(5), 3)
    check(fewer, np.zeros(5), 3, raises=ValueError)


def test_methods_that_no_program_has_are_refused():
    def program(rng, x):
        if rng.random() < x:
            return rng.gamma(2.0)
        return 0.0

    check(program, generator(), 0.5, refused="PS606")
    check(in_while, np.random.Generator(np.random.MT19937(0)), 0.5, refused="PS606")


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, m: rng.permuted(m.T),
        lambda rng, m: rng.permuted(np.arange(4), out=m[0].astype(int)),
        lambda rng, m: rng.random(-1),
        lambda rng, m: rng.random(True),
        lambda rng, m: rng.random(2.5),
        lambda rng, m: rng.random((2, 3.0)),
        lambda rng, m: rng.uniform(m * 1j),
        lambda rng, m: rng.normal(m * 1j),
        lambda rng, m: rng.exponential(m * 1j),
        lambda rng, m: rng.random(out=m.T),
        lambda rng, m: rng.uniform(m[0], m[1], size=1),
        lambda rng, m: rng.integers(m[0].astype(int) + 1, size=1),
        lambda rng, m: rng.integers(3, dtype=np.uint8),
        lambda rng, m: rng.gamma(2.0),
        lambda rng, m: rng.standard_normal(dtype=np.float32),
        lambda rng, m: rng.standard_exponential(2, dtype=np.float32),
        lambda rng, m: rng.normal(m[0], 1.0, size=1),
    ],
)
def test_draws_that_are_refused(draw):
    def program(rng, x, m):
        while rng.random() < x:
            x -= 0.1
        return draw(rng, m)

    check(program, generator(), 0.9, V.reshape(3, 4), refused="PS606")


def test_exceptions_are_those_of_the_generator():
    def program(rng, x, m):
        texts = []
        while rng.random() < x:
            x -= 0.1
        for draw in (
            lambda: rng.permutation(5.0),
            lambda: rng.permutation(m, axis=2),
            lambda: rng.shuffle(m, axis=2),
            lambda: rng.choice(m, axis=2),
            lambda: rng.choice(5.0),
        ):
            try:
                draw()
            except (ValueError, IndexError) as error:
                texts.append(f"{type(error).__name__}: {error}")
        return texts, rng.random()

    check(program, generator(), 0.9, V.reshape(3, 4))


def test_a_generator_that_shares_its_bit_generator_with_a_legacy_one_is_refused():
    def the_other_order(rngs, x):
        while rngs[1].random() < x:
            x -= 0.1
        return x + rngs[0].random_sample()

    def in_that_order(rngs, x):
        while rngs[0].random() < x:
            x -= 0.1
        return x + rngs[1].random_sample()

    bits = np.random.PCG64(0)
    new, legacy = np.random.Generator(bits), np.random.RandomState(bits)
    check(in_that_order, [new, legacy], 0.9, refused="PS606")
    check(the_other_order, [legacy, new], 0.9, refused="PS606")


def test_under_jit_and_vmap_the_state_is_not_changed():
    rng = generator()
    called = pystage.compile(lambda x: x + rng.random() if (x > 0).all() else x)
    before = state_of(rng)
    for transform in (jax.jit, jax.vmap):
        with pytest.raises(pystage.StagingError):
            transform(called)(jnp.ones(2))
    assert state_of(rng) == before


def test_programs_are_those_that_inference_counts_on():
    assert {f"Generator.{name}" for name in program_draws.PROGRAMS} == IN_PROGRAM


@pytest.mark.parametrize("count", [1, 64, 65, 1000])
def test_words_at_once_are_those_one_after_the_other(count):
    bits = np.random.PCG64(3)
    words = words_of(bits)
    with np.errstate(over="ignore"):
        found = pcg64.words(words, count)
    np.testing.assert_array_equal(found, bits.random_raw(count))
    np.testing.assert_array_equal(words, words_of(bits))
    other = np.random.PCG64(9)
    set_words(other, words)
    assert other.state == bits.state
