"""Draws of NumPy's generators: bit for bit those of the plain run, the generator in the state that it leaves."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, Comparison, check, state_of

MODULE = sys.modules[__name__]
RNG = np.random.default_rng(3)
LEGACY = np.random.RandomState(4)


def generator(seed=0):
    return np.random.default_rng(seed)


def legacy(seed=0):
    return np.random.RandomState(seed)


cases = Cases()
X = np.arange(12.0).reshape(3, 4)


@cases.each((generator(), 2.0), (legacy(), 2.0))
def straight(rng, x):
    a = rng.normal(size=3)
    b = rng.uniform()
    c = rng.standard_normal((2, 2))
    return a * x + b, c, rng.exponential(2.0), rng.poisson(3.0, size=4)


@cases.each(*[(make(), np.zeros(shape)) for make in (generator, legacy) for shape in ((3, 0), (0, 3), (0,))])
def without_elements(rng, x):
    rng.shuffle(x)
    return rng.permutation(x), rng.random_sample() if isinstance(rng, np.random.RandomState) else rng.random()


@cases(generator())
def types(rng):
    return (
        rng.random(),
        rng.random(3, dtype=np.float32),
        rng.random(size=(2, 0)),
        rng.integers(5),
        rng.integers(0, 5, size=3, dtype=np.uint8),
        rng.integers(2, 9, endpoint=True, dtype=np.int16),
        rng.integers([1, 2], [5, 9]),
        rng.binomial(5, 0.5),
        rng.multinomial(5, [0.25, 0.25, 0.5]),
        rng.dirichlet((1.0, 2.0), size=2),
        rng.multivariate_normal([0.0, 1.0], [[1.0, 0.0], [0.0, 2.0]]),
        rng.normal(np.array([0.0, 1.0]), 2.0),
        rng.standard_normal(size=()),
        rng.multivariate_hypergeometric([3, 4, 5], 4),
    )


@cases(legacy())
def legacy_types(rng):
    return (
        rng.rand(),
        rng.rand(2, 3),
        rng.randn(4),
        rng.randn(),
        rng.randint(5),
        rng.randint(0, 5, size=3),
        rng.randint(0, 200, size=2, dtype=np.uint8),
        rng.random_sample(2),
        rng.tomaxint(),
        rng.chisquare(2.0, 3),
        rng.zipf(2.0),
        rng.standard_t(3),
    )


@cases.each((generator(), 4), (legacy(), 3))
def in_loops(rng, n):
    total = 0.0
    for i in range(6):
        total = total + rng.normal() * i
        for _ in range(3):
            total = total * 0.5 + rng.uniform(0, 2)
            total += rng.exponential()
        total = total - rng.random(4).sum()
    return total * n


@cases.each((generator(), X), (legacy(), X))
def over_rows(rng, x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] + rng.normal()
        out[i] += rng.random(4)
    return out


@cases(generator(), X)
def over_array(rng, x):
    total = np.zeros(4)
    for row in x:
        total = total + row * rng.random()
    return total


def noise(rng, scale):
    return scale * rng.normal() + rng.random()


@cases.each((generator(), generator(1)), (legacy(), generator(5)))
def callees(a, b):
    x = noise(a, 2.0) + noise(b, 2.0)
    for _ in range(4):
        x = x + noise(a, 0.5)
        x = x + noise(b, 0.5) * noise(a, 0.1)
    return x + noise(b, 1.0)


def unused(rng):
    rng.normal()


def calls_unused(rng):
    unused(rng)
    unused(rng)


@cases(generator())
def unused_draws(rng):
    calls_unused(rng)
    for _ in range(3):
        unused(rng)
    rng.random(5)
    return rng.normal()


@cases(generator(), 3.0)
def one_generator_twice(rng, x):
    a = rng
    b = [rng, rng]
    return a.normal() + x, b[0].normal() - b[1].normal()


@cases.each((generator(), 5), (legacy(), 5))
def permutations(rng, n):
    x = np.arange(6.0) * 2.0
    y = np.arange(12).reshape(4, 3)
    a = rng.permutation(x)
    b = rng.permutation(y)
    rng.shuffle(x)
    rng.shuffle(y)
    return a, b, x, y, rng.permutation(7)


@cases(generator())
def permutations_by_axis(rng):
    x = np.arange(24.0).reshape(2, 3, 4)
    a = rng.permutation(x, axis=1)
    b = rng.permuted(x, axis=2)
    c = rng.permuted(x)
    rng.shuffle(x, axis=2)
    rng.shuffle(x, axis=-1)
    return a, b, c, x, rng.permutation([3, 1, 2])


@cases.each((generator(), X.copy()), (legacy(), X.copy()))
def shuffled_in_place(rng, x):
    rng.shuffle(x)
    row = x[1]
    rng.shuffle(row)
    rng.shuffle(x.T)
    return x[0, 0]


@cases.each((generator(), [1.0, 2.0, 3.0, 4.0]), (legacy(), [1, 2, 3, 4, 5]))
def shuffled_lists(rng, xs):
    rng.shuffle(xs)
    ys = [xs[0], xs[1], xs[0] * 2]
    rng.shuffle(ys)
    return ys


@cases.each((generator(), X[0]), (legacy(), X[0]))
def choices(rng, x):
    return (
        rng.choice(5),
        rng.choice(5, size=3),
        rng.choice(5, size=4, replace=False),
        rng.choice(x),
        rng.choice(x, size=(2, 2)),
        rng.choice(x, 3, False),
        rng.choice(x, 3, p=[0.1, 0.2, 0.3, 0.4]),
        rng.choice([1.5, 2.5], size=2),
        rng.choice((1, 2, 3)),
    )


@cases(generator(), X)
def choices_by_axis(rng, x):
    return rng.choice(x, 2, axis=1), rng.choice(x), rng.choice(x, size=2, replace=False, shuffle=False)


@cases.each((generator(), np.zeros(3)), (generator(), np.zeros((2, 2))))
def into_out(rng, out):
    rng.random(out=out)
    total = out.sum()
    rng.standard_normal(out=out)
    return total, rng.standard_exponential(size=out.shape, out=out) is out


@cases.each((generator(), 2.0, X[0]), (legacy(), -1.0, X[1]))
def distributions_of_inputs(rng, mean, means):
    a = rng.normal(mean, 2.0)
    b = rng.normal(means, np.abs(mean))
    c = rng.normal(loc=means, size=(2, 4))
    return a, b, c, rng.poisson(means)


@cases(generator(), np.array([0.1, 0.2, 0.7]), 3)
def distributions_of_other_inputs(rng, p, n):
    return rng.choice(3, size=4, p=p), rng.multinomial(n, p), rng.integers(n), rng.dirichlet(p)


@cases(7)
def made_from_a_constant(n):
    rng = np.random.default_rng(12345)
    other = np.random.RandomState(7)
    third = np.random.Generator(np.random.PCG64(5))
    fourth = np.random.Generator(np.random.Philox(seed=np.random.SeedSequence(9)))
    return rng.normal() * n, other.rand(2), third.integers(100), fourth.random(), rng.normal()


@cases.each((3,), (4,))
def made_from_an_argument(seed):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(3):
        total += rng.normal()
    return total


@cases(2.0)
def made_in_a_loop(x):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = x + rng.normal()
    return x


@cases(5)
def made_and_returned(seed):
    rng = np.random.default_rng(seed)
    first = rng.normal()
    return rng, [rng, first]


@cases(generator())
def handed_back(rng):
    rng.normal()
    again = np.random.default_rng(rng)
    return rng, again, again is rng, isinstance(rng, np.random.Generator), type(rng) is np.random.RandomState


def with_default(x, rng=None):
    if rng is None:
        rng = np.random.default_rng(0)
    return x + rng.normal()


@cases.each((1.0, None), (1.0, generator(3)))
def optional(x, rng):
    return with_default(x, rng)


@dataclass
class Simulation:
    rng: np.random.Generator
    sigma: float
    steps: int

    def step(self, x):
        return x + self.rng.normal(0.0, self.sigma)

    def run(self, x):
        self.steps += 1
        for _ in range(4):
            x = self.step(x)
        return x


@cases(Simulation(generator(), 0.5, 2), 1.0)
def of_an_object(simulation, x):
    return simulation.run(x) + simulation.run(x)


@cases(Simulation(generator(), 0.5, 2))
def new_generator_in_an_object(simulation):
    simulation.rng = np.random.default_rng(4)
    return simulation.step(0.0)


@cases({"rngs": [generator(1), generator(2)], "x": 1.0})
def in_containers(state):
    for rng in state["rngs"]:
        state["x"] = state["x"] + rng.random()
    first, second = state["rngs"]
    return first.normal() - second.normal()


@cases(generator(), 0.5)
def branches_on_what_is_drawn(rng, limit):
    u = rng.random(4)
    count = 0
    for i in range(4):
        v = rng.normal()
        if u[i] < limit:
            count += 1
        elif v > 0:
            count += 10
    return count


@cases.each((generator(), 5), (generator(), 0))
def loops_of_an_argument_s_length(rng, n):
    total = 0.0
    for i in range(n):
        for _ in range(i):
            total = total * 0.5 + rng.normal()
    i = 0
    while i < 4:
        total += rng.random()
        i += 1
    return total


@cases(generator())
def small_integers_in_loops(rng):
    bits, numbers, pairs = 0, 0, np.zeros(2)
    for _ in range(9):
        bits = bits * 2 + int(rng.integers(0, 2, dtype=bool))
    for _ in range(9):
        numbers = numbers * 3 + int(rng.integers(0, 5, dtype=np.uint16))
    for _ in range(2):
        pairs = pairs * 3 + rng.normal([0.0, 10.0], [1.0, 2.0])
    for _ in range(2):
        pairs = pairs * 3 + rng.integers([1, 2], [5, 9])
    return bits, numbers, pairs, rng.integers(0, 5, size=3, dtype=np.uint8)


@cases.each((generator(), 3), (legacy(), 4))
def nests_of_loops(rng, n):
    inside = 0
    for _ in range(20):
        a, b = rng.random(), rng.random()
        if a * a + b * b < 1.0:
            inside += 1
    total = np.zeros(2)
    for _ in range(3):
        for _ in range(4):
            total = total * 0.5 + rng.normal(size=2) - rng.normal(size=2)
        total = total + rng.uniform(-1.0, 1.0)
    for _ in range(3):
        for _ in range(2):
            for _ in range(2):
                total = total * 0.5 + rng.normal(0.0, 2.0)
        x, y = rng.random(), rng.normal()
        total = total + x * y * n
    return inside, total


@cases(generator(), np.array([[1.0, 2.0], [3.0, 5.0]]))
def limits_that_are_views(rng, x):
    low, high = np.asarray([(-1.0, 2.0)] * 3).T
    return rng.uniform(low, high, (2, 3)), rng.uniform(low, high)


@cases(generator(), np.arange(8.0))
def shuffled_by_hand(rng, x):
    for i in range(len(x) - 1, 0, -1):
        j = rng.integers(0, i + 1)
        x[i], x[j] = x[j], x[i]
    return sum(rng.normal() for _ in range(3)), list(map(lambda v: v + rng.normal(), [1.0, 2.0]))


@cases(generator(), np.ones(3))
def through_numpy_s_loops(rng, x):
    return np.vectorize(lambda v: v + rng.normal())(x), np.apply_along_axis(lambda v: v * rng.random(), 0, x)


@cases(generator())
def methods_of_the_class(rng):
    normal = rng.normal
    return [normal(size=2) for _ in range(3)], np.random.Generator.random(rng, 2), rng or None


@cases(2.0)
def several_made(x):
    rngs = [np.random.default_rng(seed) for seed in range(3)]
    return [rng.random() * x for rng in rngs], rngs[1]


@cases(generator(), 100)
def comprehension(rng, n):
    return [rng.normal() for _ in range(5)], np.array([rng.random() * n for _ in range(20)])


@cases(generator(), X)
def indexes_with_what_is_drawn(rng, x):
    i = rng.integers(0, 3)
    rows = rng.integers(0, 3, size=5)
    x[rng.integers(0, 3), 1] = 100.0
    return x[i, 2], x[rows].sum(axis=0)


@cases(generator(), jnp.ones(3))
def with_jax_arrays(rng, x):
    return x + jnp.asarray(rng.random(3)), jnp.add(x, rng.normal())


@pytest.mark.parametrize("program, args, options", cases.params)
def test_draws(program, args, options):
    check(program, *args, **options)


# ---------------------------------------------------------------- every method

ARGUMENTS = {
    "beta": (1.0, 2.0), "binomial": (5, 0.5), "chisquare": (2.0,), "choice": (5,), "dirichlet": ((1.0, 2.0),),
    "f": (2.0, 3.0), "gamma": (2.0,), "geometric": (0.5,), "hypergeometric": (4, 5, 3), "integers": (7,),
    "logseries": (0.5,), "multinomial": (5, (0.5, 0.5)), "multivariate_hypergeometric": ((3, 4), 2),
    "multivariate_normal": ((0.0, 1.0), ((1.0, 0.0), (0.0, 1.0))), "negative_binomial": (3, 0.5),
    "noncentral_chisquare": (2.0, 1.0), "noncentral_f": (2.0, 3.0, 1.0), "pareto": (2.0,), "permutation": (5,),
    "power": (2.0,), "randint": (7,), "standard_gamma": (2.0,), "standard_t": (3.0,),
    "triangular": (0.0, 0.5, 1.0), "vonmises": (0.0, 1.0), "wald": (1.0, 1.0), "weibull": (2.0,), "zipf": (2.0,),
}  # fmt: skip
STATE = {"bytes", "bit_generator", "spawn", "get_state", "set_state", "seed", "random_integers"}
IN_PLACE = {"shuffle", "permuted"}


def methods():
    for make in (generator, legacy):
        cls = type(make())
        for name in dir(cls):
            if not name.startswith("_") and name not in STATE | IN_PLACE:
                yield pytest.param(make, name, id=f"{cls.__name__}.{name}")


@pytest.mark.parametrize("make, name", list(methods()))
def test_every_method_draws_in_loops_what_it_draws_trip_by_trip(make, name):
    arguments = ARGUMENTS.get(name, ())
    sizes = [{}] if name in ("permutation", "rand", "randn") else [{}, {"size": 3}, {"size": (2, 1)}]

    def program(rng):
        found = []
        for size in sizes:
            first = getattr(rng, name)(*arguments, **size)
            total = np.asarray(first) * 1e-9
            for i in range(3):
                for _ in range(4):
                    total = total * 2.0 + np.asarray(getattr(rng, name)(*arguments, **size)) * (i + 1.0)
            found.append((first, total))
        return found

    check(program, make(1), runs=1, interpreted=False)


@pytest.mark.parametrize(
    "make, name", [(generator, n) for n in sorted(STATE & set(dir(np.random.Generator)))]
)
def test_what_is_about_the_state_is_refused(make, name):
    check(lambda rng: getattr(rng, name)(1) and 1, make(), refused="PS606")


def test_the_legacy_state_is_refused():
    check(lambda rng: rng.get_state() and 1, legacy(), refused="PS606")
    check(lambda: np.random.get_state() and 1, refused="PS606")
    check(lambda: np.random.PCG64(1).state and 1, refused="PS606")
    check(lambda rng: copy.deepcopy(rng).normal(), generator(), refused="PS604")


# ---------------------------------------------------------------- where generators come from


def same_scenario(scenario):
    """Runs a scenario plain and staged, each on its own generators, and compares what it gives."""
    Comparison().same(scenario(lambda f: f), scenario(pystage.compile), "result")


def test_functions_of_the_module():
    def program(x):
        np.random.seed(7)
        a = np.random.rand(2), np.random.randn(), np.random.normal(1.0, 2.0, size=3)
        b = np.random.randint(10), np.random.uniform(), np.random.choice(x), np.random.permutation(4)
        np.random.shuffle(x)
        return a, b, np.random.sample(2), np.random.ranf(), np.random.random_sample(), x

    state = np.random.get_state()
    try:
        check(program, np.arange(4.0))
    finally:
        np.random.set_state(state)


def test_the_state_of_the_module_is_the_plain_one():
    def program():
        return np.random.normal(size=2), np.random.standard_normal()

    state = np.random.get_state()
    try:

        def scenario(compile):
            np.random.seed(3)
            called = compile(program)
            return [called() for _ in range(3)], np.random.rand(), np.random.normal()

        same_scenario(scenario)
    finally:
        np.random.set_state(state)


def test_captured_generators():
    def scenario(compile):
        rng, simulation = generator(3), Simulation(legacy(2), 0.5, 0)

        def program(x):
            return x + rng.normal(), simulation.step(x), simulation.rng.rand()

        called = compile(program)
        results = [called(1.0), called(2.0)]
        rng = generator(5)
        simulation.rng = legacy(8)
        results += [called(1.0), called(1.0)]
        return results, rng, simulation

    same_scenario(scenario)


def test_generators_of_defaults_and_classes():
    def scenario(compile):
        class Model:
            rng = generator(3)

            def step(self, x, rng=generator(4)):
                return x + self.rng.normal() * rng.random()

        model = Model()
        called = compile(lambda x: model.step(x) + Model.rng.random())
        return [called(1.0), called(2.0), called(3.0)], Model.rng, Model.step.__defaults__

    same_scenario(scenario)


def test_a_new_generator_needs_no_new_program():
    called = pystage.compile(straight)
    for seed in range(4):
        check(straight, generator(seed), 1.0, staged=called, runs=1, interpreted=False)
    assert len(called.signatures()) == 1

    def program():
        return RNG.normal()

    called = pystage.compile(program)
    with pytest.MonkeyPatch.context() as patch:
        for seed in range(4):
            patch.setattr(MODULE, "RNG", generator(seed))
            assert called() == generator(seed).normal()
    assert len(called.signatures()) == 1


def test_a_bound_method_of_a_generator():
    def scenario(compile):
        draw, rng = generator(2).normal, generator(4)

        def program(f):
            return draw() + f(), rng.random()

        called = compile(program)
        return [called(rng.random), called(rng.random)], rng

    same_scenario(scenario)


def test_generators_without_a_seed_differ_at_each_call():
    called = pystage.compile(lambda: np.random.default_rng().random())
    assert len({called() for _ in range(4)}) == 4


def test_draws_of_other_shapes_and_sizes():
    def program(rng, x):
        return x + rng.normal(size=x.shape) + rng.random()

    called = pystage.compile(program)
    for shape in ((3,), (4,), (2, 2), (3,), (4,)):
        check(program, generator(), np.ones(shape), staged=called)

    def fixed(rng, x):
        return x * rng.random()

    called = pystage.compile(fixed)
    for shape in ((3,), (4,), (2, 2), (3,)):
        check(fixed, generator(), np.ones(shape), staged=called)


def test_the_number_of_draws_follows_a_demanded_argument():
    def program(rng, n):
        return rng.normal(size=n)

    called = pystage.compile(program)
    for n in (3, 4, 3):
        check(program, generator(), n, staged=called)


def test_large_draws_are_not_drawn_to_see_their_type():
    def program(rng):
        return rng.normal(size=(300, 1000)).sum(), rng.dirichlet((1.0, 2.0), size=100_000).shape

    check(program, generator(), runs=1, interpreted=False)


# ---------------------------------------------------------------- what is refused


def in_a_branch(rng, c):
    x = 1.0
    if c > 0:
        x = rng.gamma(2.0)
    return x


def in_a_while_loop(rng, c):
    x = 0.0
    while x < c:
        x += rng.gamma(2.0)
    return x


def in_a_loop_of_unknown_length(rng, c):
    x = 0.0
    for _ in range(int(c.sum())):
        x += rng.gamma(2.0)
    return x


def in_a_loop_that_breaks(rng, c):
    x = 0.0
    for _ in range(10):
        x += rng.gamma(2.0)
        if x > c:
            break
    return x


def skewed(rng):
    return rng.gamma(2.0)


def in_a_callee_in_a_branch(rng, c):
    return skewed(rng) if c > 0 else 0.0


def unused_in_a_branch(rng, c):
    if c > 0:
        skewed(rng)
    return c


def of_a_computed_array(rng, c):
    return rng.gamma(np.ones(3) * c)


def of_an_uncertain_generator(rng, c):
    other = np.random.default_rng(0)
    chosen = rng if c > 0 else other
    return chosen.gamma(2.0)


def in_fori_loop(rng, c):
    return jax.lax.fori_loop(0, 3, lambda i, x: x + rng.normal(), 1.0 * c)


REFUSED = [
    in_a_branch,
    in_a_while_loop,
    in_a_callee_in_a_branch,
    in_a_loop_that_breaks,
    unused_in_a_branch,
    of_an_uncertain_generator,
]


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program):
    check(program, generator(), 1.5, refused="PS606")


def test_refused_more():
    check(in_a_loop_of_unknown_length, generator(), np.ones(3), refused="PS606")
    check(of_a_computed_array, generator(), np.ones(3), refused="PS606")


def test_nothing_is_drawn_before_a_fallback():
    for program in (in_a_branch, in_a_while_loop):
        plain, staged = generator(), generator()
        called = pystage.compile(program, fallback="python")
        with pytest.warns(pystage.FallbackWarning):
            assert called(staged, 1.5) == program(plain, 1.5)
        assert state_of(plain) == state_of(staged)


def test_nothing_is_drawn_before_a_call_is_refused():
    def program(rng, out, x):
        out[:] = x + rng.normal()

    called = pystage.compile(program)
    base, rng = np.zeros(5), generator()
    called(rng, base[:2].copy(), np.ones(2))
    before = state_of(rng)
    with pytest.raises(pystage.StagingError, match="PS806"):
        called(rng, base[:3], base[1:4])
    assert state_of(rng) == before


def test_under_jit_draws_are_refused():
    rng = generator()
    called = pystage.compile(lambda x: x + rng.normal())
    before = state_of(rng)
    with pytest.raises(pystage.StagingError, match="PS606"):
        jax.jit(called)(jnp.ones(2))
    with pytest.raises(pystage.StagingError, match="PS606"):
        jax.vmap(called)(jnp.ones(2))
    assert state_of(rng) == before

    @jax.jit
    def around(x):
        return x + called(1.0)

    assert float(around(0.0)) == pytest.approx(1.0 + generator().normal())
    assert state_of(rng) != before


def test_arguments_that_a_distribution_does_not_allow():
    def program(rng, scale):
        first = rng.random()
        return first + rng.normal(0.0, scale)

    called = pystage.compile(program)
    check(program, generator(), 2.0, staged=called)
    check(program, generator(), -2.0, staged=called, raises=ValueError, interpreted=False)
    check(lambda rng: rng.normal(0.0, -1.0), generator(), raises=ValueError)
    check(lambda rng: rng.integers(5, 2), generator(), raises=ValueError)


def test_a_generator_that_is_not_used():
    def program(x, rng):
        return x * 2.0, rng

    check(program, 1.0, generator())
    rng = generator()
    assert float(jax.jit(lambda x: pystage.compile(lambda x, rng: x * 2.0)(x, rng))(1.0)) == 2.0


def test_draws_ahead_of_time():
    def program(rng, x):
        return x + rng.normal(size=2)

    compiled = pystage.compile(program).lower(generator(), 1.0).compile()
    plain, staged = generator(5), generator(5)
    for _ in range(2):
        Comparison().same(program(plain, 1.0), compiled(staged, 1.0), "result")
    assert state_of(plain) == state_of(staged)


# ---------------------------------------------------------------- exceptions


def raises_between(rng, x):
    a = rng.normal()
    if x > 1.0:
        raise ValueError(f"too large: {x}")
    b = rng.normal()
    return a + b


def raises_in_a_loop(rng, x, seen):
    total = 0.0
    for i in range(8):
        u = rng.random()
        total += u + noise(rng, 0.1)
        seen[i] = u
        if total > x:
            raise ValueError("enough")
        total += rng.exponential()
    return total


def raises_in_a_callee(rng, x):
    rng.random()
    y = checked(rng, x) + checked(rng, x + 1.0)
    return y + rng.random()


def checked(rng, x):
    y = rng.normal()
    if x > 3.0:
        raise KeyError(x)
    return y + rng.normal()


@pytest.mark.parametrize("make", [generator, legacy])
def test_after_an_exception_the_generator_is_where_the_plain_run_leaves_it(make):
    called = pystage.compile(raises_between)
    check(raises_between, make(), 0.5, staged=called)
    check(raises_between, make(), 1.5, staged=called, raises=ValueError)
    called = pystage.compile(raises_in_a_callee)
    check(raises_in_a_callee, make(), 1.0, staged=called)
    check(raises_in_a_callee, make(), 2.5, staged=called, raises=KeyError)
    check(raises_in_a_callee, make(), 3.5, staged=called, raises=KeyError)
    called = pystage.compile(raises_in_a_loop)
    check(raises_in_a_loop, make(), 100.0, np.zeros(8), staged=called)
    for limit in (0.5, 2.0, 4.0):
        check(raises_in_a_loop, make(), limit, np.zeros(8), staged=called, raises=ValueError)


def test_limits_that_are_too_far_apart_raise_in_the_program():
    def program(rng):
        return rng.normal() + rng.uniform(0.0, np.inf)

    check(program, generator(), raises=OverflowError)


# ---------------------------------------------------------------- jax.random


def test_jax_random_inside():
    def program(key, x):
        key, sub = jax.random.split(key)
        y = x + jax.random.normal(sub, x.shape)
        for _ in range(3):
            key, sub = jax.random.split(key)
            if jax.random.uniform(sub) > 0.5:
                y = y + jax.random.uniform(key, x.shape)
        return key, y, jax.random.permutation(key, 5), jax.random.randint(sub, (2,), 0, 10)

    check(program, jax.random.key(0), jnp.ones(3))
    check(program, jax.random.PRNGKey(0), jnp.ones(3))


def noisy_loss(w, rng):
    kept = rng.random(3) > 0.3
    total = 0.0
    for i in range(3):
        total += w[i] * w[i] * kept[i] * rng.normal()
    return total


def test_draws_of_a_function_that_is_differentiated():
    w, rng, same = np.array([1.0, -2.0, 3.0]), generator(), generator()
    gradient = pystage.grad(noisy_loss)(w, rng)
    kept = same.random(3) > 0.3
    np.testing.assert_allclose(gradient, 2.0 * w * kept * [same.normal() for _ in range(3)])
    assert state_of(rng) == state_of(same)
    pystage.hessian(noisy_loss)(w, rng)
    noisy_loss(w, same)
    assert state_of(rng) == state_of(same)


def test_draws_in_a_loop_of_gradients():
    def train(w, rng):
        for _ in range(4):
            value, slope = pystage.value_and_grad(noisy_loss)(w, rng)
            w = w - 0.1 * slope * rng.uniform()
        out, pull = pystage.vjp(noisy_loss, w, rng)
        return w, value, out, pull(1.0)[0], rng.normal()

    check(train, np.array([1.0, -2.0, 3.0]), generator(), tolerance=1e-12, interpreted=False)


def test_draws_that_a_derivative_would_repeat_are_refused():
    def again(w, rng):
        return pystage.checkpoint(lambda w: (w * rng.normal(size=3)).sum())(w)

    def by_lane(w, rng):
        return pystage.vmap(lambda v: v * rng.normal())(w).sum()

    def varied(w, rng):
        return rng.gamma(w[0]) * w[1]

    rng = generator()
    before = state_of(rng)
    for function in (again, by_lane, varied):
        with pytest.raises(pystage.StagingError, match="PS606|PS701"):
            pystage.grad(function)(np.ones(3), rng)
    assert state_of(rng) == before


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, x: rng.permuted(x.T),
        lambda rng, x: rng.permuted(x, out=x.T.copy().T),
        lambda rng, x: rng.random(out=x.T),
    ],
)
def test_draws_in_the_order_of_memory_are_refused(draw):
    check(draw, generator(), X, refused="PS606")


def test_an_argument_in_another_order_of_memory_is_refused_where_that_decides():
    def program(rng, x):
        return rng.permuted(x)

    called = pystage.compile(program)
    check(program, generator(), X, staged=called)
    check(program, generator(), np.asfortranarray(X), staged=called, refused="PS814")


def test_the_size_and_the_array_for_the_result_have_the_same_shape():
    def program(rng, x):
        return rng.random(2, out=x)

    check(program, generator(), np.zeros(3), raises=ValueError)


def texts_of(calls):
    texts = []
    for call in calls:
        try:
            call()
        except (ValueError, TypeError, IndexError) as error:
            texts.append(f"{type(error).__name__}: {error}")
    return texts


def test_exceptions_are_those_of_the_generator():
    def program(rng, x, number, out):
        return texts_of(
            [
                lambda: rng.choice([], 3),
                lambda: rng.choice(x[:0], 3),
                lambda: rng.choice(x, p=x[:2]),
                lambda: rng.choice(x, axis=2),
                lambda: rng.permutation(number),
                lambda: rng.permutation(x, slice(1, 2)),
                lambda: rng.shuffle(x, slice(1, 2)),
                lambda: rng.shuffle(x, 1),
                lambda: rng.shuffle(x[0]),
                lambda: rng.permuted(x, out=out),
            ]
        )

    def of_read_only_arrays(rng, x, read_only):
        return texts_of([lambda: rng.permuted(x, out=read_only), lambda: rng.shuffle(read_only)])

    def of_the_module(rng, x):
        return texts_of([lambda: LEGACY.choice([], 3), lambda: LEGACY.shuffle(x[0])])

    x, read_only = np.arange(3.0), np.ones(3)
    read_only.flags.writeable = False
    check(program, generator(), x, 1.5, np.ones(5))
    check(of_read_only_arrays, generator(), x, read_only)
    check(of_the_module, generator(), x)


def test_what_is_drawn_before_an_exception():
    indefinite = ((1.0, 2.0), (2.0, 1.0))

    def program(rng):
        texts = texts_of(
            [
                lambda: rng.multivariate_normal((0.0, 0.0), indefinite, check_valid="raise"),
                lambda: rng.multivariate_normal((0.0, 0.0), indefinite, method="cholesky"),
                lambda: rng.multivariate_normal((0.0, 0.0), ((1.0, 2.0), (2.0, 1.0), (1.0, 1.0))),
            ]
        )
        return rng.random(), texts

    check(program, generator())
    check(lambda rng: rng.shuffle((1, 2)), generator(), refused="PS606")
    check(
        lambda rng, c: rng.multivariate_normal((0.0, 0.0), c), generator(), np.ones((3, 2)), refused="PS606"
    )
