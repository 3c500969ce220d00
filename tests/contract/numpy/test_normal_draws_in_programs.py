"""Normal and exponential numbers of which only the run decides whether they are drawn, or with what arguments.

The generator is in the state in which the plain run leaves it; numbers of the ziggurat's tail may differ in the last place.
"""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check, state_of
from pystage.compiler.library.numpy.random import ziggurat
from pystage.compiler.library.numpy.random.pcg64 import MULTIPLIER
from pystage.compiler.values.generators import words_of

LAST_PLACE = 1e-15
WORD = (1 << 64) - 1
cases = Cases()
V = np.arange(6.0)


def generator(seed=0, half=False):
    """A generator; with `half` a word is left over from a draw of 32 bits."""
    made = np.random.default_rng(seed)
    if half:
        made.random(dtype=np.float32)
    return made


@cases.each(*[(generator(s, s == 1), x) for s in range(3) for x in (-1.0, 0.5, 3.0)])
def under_if(rng, x):
    first = rng.normal()
    if x > 0:
        first = first + rng.exponential() * 2.0
        if rng.standard_normal() < x:
            return first, rng.standard_exponential(), rng.standard_normal((2, 0)), rng.normal(size=1)
    return first, rng.normal(x), np.zeros((2, 0)), rng.exponential(size=1)


@cases.each(*[(generator(s), x) for s in range(3) for x in (0.0, 2.0, 20.0)])
def random_walk(rng, end):
    place, steps = 0.0, 0
    while abs(place) < end:
        place += rng.normal()
        steps += 1
    return place, steps


@cases.each((generator(4), 0), (generator(4), 1), (generator(5, True), 500))
def metropolis(rng, n):
    place, accepted, chain = 0.0, 0, np.zeros(n)
    for i in range(n):
        proposed = place + rng.normal(0, 0.5)
        difference = 0.5 * (place * place - proposed * proposed)
        if difference >= 0 or rng.random() < np.exp(difference):
            place = proposed
            accepted += 1
        chain[i] = place
    return chain, accepted


@cases.each((generator(0),), (generator(1),))
def draw_while(rng):
    t, n = 0.0, 0
    while t < 5.0:
        t += rng.exponential(1.0)
        n += 1
    return t, n


@cases.each((generator(4), 0.1, V), (generator(5), 0.9, V[1:]))
def parameters(rng, x, v):
    while rng.random() < x:
        x -= 0.1
    return (
        rng.normal(x, x + 2.0),
        rng.normal(v, 2.0),
        rng.normal(x, v),
        rng.normal(v[:, None], v),
        rng.normal(v, 1.0, (3, len(v))),
        rng.normal(np.float32(x), np.int64(2)),
        rng.normal(-0.0, 0.0, 3),
        rng.normal(loc=x, size=()),
        rng.exponential(x + 1.0),
        rng.exponential(v),
        rng.exponential(v, (2, len(v))),
        rng.exponential(np.nan),
    )


@cases.each((generator(4), 0.1, np.zeros((2, 3))), (generator(5, True), 0.9, np.zeros((0, 3))))
def sizes(rng, x, out):
    while rng.random() < x:
        x -= 0.1
    return (
        rng.standard_normal(0),
        rng.standard_normal([2, 3]),
        rng.standard_normal(np.int64(127)),
        rng.standard_normal(128),
        rng.standard_normal(129),
        rng.standard_normal((5, 0)),
        rng.standard_normal(out=out),
        rng.standard_exponential((20, 100)),
        rng.standard_exponential(3, dtype=np.float64),
        rng.random(),
    )


@cases.each((generator(4), 0.1), (generator(5), 0.9))
def until_the_tail(rng, x):
    while rng.random() < x:
        x -= 0.1
    far, count = 0.0, 0
    while far < 4.5:
        far = abs(rng.standard_normal())
        count += 1
    return far, count, np.max(rng.standard_exponential(20_000)), np.abs(rng.standard_normal(20_000)).max()


class Dense:
    def __init__(self, n, m, rng):
        self.w = rng.standard_normal((n, m)) * np.sqrt(2.0 / n)
        self.b = np.zeros(m)

    def forward(self, x):
        return np.tanh(x @ self.w + self.b)


@cases.each((np.ones((4, 2)), 0.5), (np.ones((4, 2)), 9.0))
def layers_and_batches(x, limit):
    rng = np.random.default_rng(3)
    layers = [Dense(2, 5, rng), Dense(5, 1, rng)]
    for epoch in range(10):
        for row in rng.permutation(len(x)):
            x[row] += 0.1 * rng.normal()
        y = x
        for layer in layers:
            y = layer.forward(y)
        if np.sum(np.abs(y)) + epoch > limit:
            break
    return epoch, layers[0].w, layers[1].w, rng.random()


@pytest.mark.parametrize("program, args, options", cases.params)
def test_draws(program, args, options):
    check(program, *args, tolerance=LAST_PLACE, interpreted=False, **options)


@pytest.mark.parametrize("x", [0.1, 0.9])
def test_by_elementary_functions(x):
    def program(rng, x):
        while rng.random() < x:
            x -= 0.1
        return (
            rng.lognormal(),
            rng.lognormal(x, 2.0),
            rng.lognormal(V, 0.5),
            rng.lognormal(size=(2, 3)),
            rng.lognormal(size=()),
            rng.standard_exponential(method="inv"),
            rng.standard_exponential(50, method="inv"),
            rng.normal(),
        )

    check(program, generator(), x, tolerance=1e-14, interpreted=False)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, x: rng.normal(0.0, x),
        lambda rng, x: rng.normal(0.0, x, 3),
        lambda rng, x: rng.normal(0.0, x * V),
        lambda rng, x: rng.lognormal(0.0, x),
        lambda rng, x: rng.exponential(x),
        lambda rng, x: rng.exponential(x * V),
    ],
)
def test_parameters_that_are_not_allowed(draw):
    def program(rng, x):
        first = rng.normal()
        return draw(rng, x) + first if first < 5.0 else first

    for x, error in ((1.0, None), (np.nan, None), (-1.0, ValueError), (-0.0, ValueError)):
        check(program, generator(), x, raises=error, tolerance=1e-14, interpreted=False)


def test_what_the_host_can_draw_ahead_it_draws():
    def program(rng, n):
        return sum([rng.normal() for _ in range(3)]) + rng.exponential(n)

    assert "ziggurat" not in str(pystage.code_typed(program, generator(), 2.0))
    check(program, generator(), 2.0, tolerance=0.0)


def test_derivatives_go_through_the_parameters():
    def program(w, rng):
        while rng.random() < 0.5:
            w = w * 1.5
        return np.sum(rng.normal(w[0], w[1], 3)) * w[2] + rng.exponential(w[1])

    w, rng, same = np.array([1.0, 2.0, 3.0]), generator(1), generator(1)
    gradient = pystage.grad(program)(w, rng)
    scale = 1.0
    while same.random() < 0.5:
        scale *= 1.5
    z, e = same.standard_normal(3), same.standard_exponential()
    w = w * scale
    expected = [3 * w[2], np.sum(z) * w[2] + e, np.sum(w[0] + w[1] * z)]
    np.testing.assert_allclose(gradient, scale * np.array(expected), rtol=1e-13)
    assert state_of(rng) == state_of(same)


def test_a_million_numbers():
    def program(rng, x):
        while rng.random() < x:
            x -= 0.1
        return rng.standard_normal(1_000_000), rng.standard_exponential(1_000_000)

    staged, plain = generator(8), generator(8)
    for found, wanted in zip(pystage.compile(program)(staged, 0.5), program(plain, 0.5), strict=True):
        differ = found != wanted
        assert np.count_nonzero(differ) < 50 and np.all(np.abs(wanted[differ]) > 3.65)
        np.testing.assert_allclose(found, wanted, rtol=LAST_PLACE, atol=0)
    assert state_of(staged) == state_of(plain)


# ---------------------------------------------------------------- tables


def giving(first, second=0):
    """A generator that gives these words next, up to the lowest bit of the second."""
    increment = (second - first * MULTIPLIER) & (1 << 128) - 1 | 1
    bits = np.random.PCG64(0)
    before = (first - increment) * pow(MULTIPLIER, -1, 1 << 128) & (1 << 128) - 1
    bits.state = {**bits.state, "state": {"state": before, "inc": increment}, "has_uint32": 0}
    return np.random.Generator(bits)


def normal_word(layer, place):
    return layer | place << 9


def exponential_word(layer, place):
    return layer << 3 | place << 11


KINDS = [
    ("standard_normal", "i", normal_word, lambda x: np.exp(-0.5 * x * x)),
    ("standard_exponential", "e", exponential_word, lambda x: np.exp(-x)),
]


def drawn_both_ways(name, first, second=0):
    """What NumPy and the program draw after these words, the same, and how many words that took."""
    rng = giving(first, second)
    words = words_of(rng.bit_generator)
    with np.errstate(over="ignore"):
        found = getattr(ziggurat, name)(words)
    assert found == getattr(rng, name)()
    np.testing.assert_array_equal(words, words_of(rng.bit_generator))
    steps, other = 0, giving(first, second).bit_generator
    while other.state != rng.bit_generator.state:
        other.random_raw()
        steps += 1
    return found, steps


def test_the_next_words_of_a_generator_can_be_chosen():
    rng = giving(12345678901234567890, 2345678901234567891)
    assert rng.bit_generator.random_raw() == 12345678901234567890
    assert abs(int(rng.bit_generator.random_raw()) - 2345678901234567891) <= 1


@pytest.mark.parametrize("name, kind, word, density", KINDS)
def test_tables_are_those_of_numpy(name, kind, word, density):
    places, widths, heights = (ziggurat.table(column + kind) for column in "kwf")
    assert heights[0] == 1.0 and places[1] == 0
    for layer in range(256):
        if layer != 1:
            last = int(places[layer]) - 1
            assert drawn_both_ways(name, word(layer, last)) == (last * widths[layer], 1)
        beyond = int(places[layer])
        if layer == 0:
            assert drawn_both_ways(name, word(0, beyond), 5)[1] > 1
            continue
        x = beyond * widths[layer] if layer > 1 else widths[1] * 2.0**50
        place = beyond if layer > 1 else 1 << 50
        limit = (density(x) - heights[layer]) / (heights[layer - 1] - heights[layer])
        below, above = (int((limit + d) * 2.0**53) << 11 for d in (-2e-13, 2e-13))
        if above <= WORD:
            assert drawn_both_ways(name, word(layer, place), above)[1] > 2
        assert drawn_both_ways(name, word(layer, place), below) == (x, 2)


@pytest.mark.parametrize("name, kind, word, density", KINDS)
def test_signs_and_zeros(name, kind, word, density):
    for first in (word(5, 0), word(5, 0) | 1 << 8, word(7, 9) | 1 << 8, WORD, 0):
        found, _ = drawn_both_ways(name, first)
        assert np.signbit(found) == np.signbit(getattr(giving(first), name)())
