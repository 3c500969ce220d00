"""Expressions: each function runs in CPython and as stage IR, with the order of evaluation logged."""

from __future__ import annotations

from .compare import check

SCALE = 3


def test_literals():
    def numbers():
        return 1, -2, 1_000, 0x1F, 123456789012345678901234567890, 1.5, -1e-3, 2j, -3j, True, None, ...

    def strings():
        return (
            "a\n",
            r"a\n",
            b"\x00a",
            "abc",
            """x
        y""",
            "\N{EM DASH}é",
            rb"\d",
            b"ab",
        )

    check(numbers)
    check(strings)


def test_operators():
    def arithmetic(a, b):
        return (
            a + b,
            a - b,
            a * b,
            a / b,
            a // b,
            a % b,
            a**b,
            -a,
            +a,
            ~a,
            not a,
            a & b,
            a | b,
            a ^ b,
            a << b,
            a >> b,
        )

    def compare(a, b):
        return a == b, a != b, a < b, a <= b, a > b, a >= b, a is b, a is not b, a in [b], a not in [b]

    check(arithmetic, (7, 2), (-5, 3), (1, 0))
    check(compare, (1, 2), (2, 2), (3.0, 1))


def test_chained_comparison_evaluates_once_and_stops():
    def chain(a, b, c, log):
        def see(x):
            log.append(x)
            return x

        return see(a) < see(b) <= see(c) != see(a)

    check(chain, (1, 2, 3, []), (3, 2, 1, []), (1, 2, 1, []), (1, 1, 1, []))


def test_short_circuit():
    def both(a, b, c, log):
        def see(x):
            log.append(x)
            return x

        return see(a) and see(b) or see(c), (see(a) or see(b)) and see(c), not (a or b) and c

    check(both, *[(a, b, c, []) for a in (0, 1) for b in ("", "b") for c in ([], [1])])


def test_conditional_and_walrus():
    def choose(a):
        b = (c := a + 1) if a > 2 else (d := -a)
        return b, (e := a), e, [c for _ in [0]] if a > 2 else d

    check(choose, 1, 5)


def test_displays_and_stars():
    def displays(xs, d):
        return [*xs, 1, *xs], (*xs,), {*xs, 9}, {"a": 1, **d, "b": 2}, (), [], {}, (1,)

    check(displays, ([1, 2], {"a": 5, "c": 6}), ([], {}))


def test_subscripts_and_slices():
    class Probe:
        def __getitem__(self, index):
            return index

    def index(p, i):
        return p[i], p[i, 1], p[i,], p[1:2], p[:], p[::2], p[i:, ..., None], p[(1, 2)], p[*[1, 2], i], p[-1]

    check(index, (Probe(), 3))


def test_calls():
    def call(log):
        def f(*args, **kwargs):
            log.append((args, kwargs))
            return args

        def see(x):
            log.append(x)
            return x

        f(see(1), *see([2, 3]), k=see(4), **see({"m": 5}))
        f(k=see(1), *see([2]))
        return f(*f(1), *f(2), a=1)

    check(call, [])


def test_attributes_and_keywords():
    def text(s):
        return s.upper().split(sep="B", maxsplit=1), "{x}-{y}".format(x=s, y=SCALE)

    check(text, "abc", "")


def test_f_strings():
    def show(x, w, name):
        return (
            f"{x}", f"{x!r:>{w}} {{literal}} {name!s}", f"{x = }", f"{ x=:.2f}", f"{x=!s}", f"a" "b" f"{name}" "{c}",
            rf"\n{x}", f"\t{x:{'>'}{w}}|", f"", f"{'nested'}{f'{x}'}", f"{x + 1 = }", f"{{}}" + "{}",
        )  # fmt: skip

    check(show, (1.25, 8, "n"), (3, 12, "é"))


def test_comprehensions():
    def build(xs, n):
        i = "kept"
        squares = [i * i for i in xs if i % 2 if i > 0]
        pairs = [(i, j) for i in range(n) for j in range(i)]
        table = {k: v for k, v in zip("abc", xs)}
        unique = {x % 3 for x in xs}
        nested = [[r * c for c in range(r)] for r in range(n)]
        total = [y := (y + x) for x in xs] if (y := 0) == 0 else None
        return i, squares, pairs, table, unique, nested, total, y

    check(build, ([1, 2, 3, 5, -7], 3), ([], 0))


def test_comprehension_scopes():
    def closures(n):
        late = [lambda: i for i in range(n)]
        early = [lambda i=i: i for i in range(n)]
        fresh = [[lambda: j for j in range(i + 1)] for i in range(n)]
        factor = 10
        outer = [(lambda: x * factor)() for x in range(n)]
        deep = [[(lambda: a + b)() for b in range(2)] for a in range(n)]
        total = 0
        bound = [(lambda: q, total := total + q) for q in range(n)]
        return (
            [f() for f in late],
            [f() for f in early],
            [[g() for g in fs] for fs in fresh],
            outer,
            deep,
            total,
            len(bound),
        )

    check(closures, 0, 1, 3)


def test_first_iterable_belongs_outside():
    def shadow(x):
        return [x for x in range(x)], [x for y in [x] for x in [y + 1]], x

    check(shadow, 3)


def test_generators_that_are_consumed():
    def consume(xs, log):
        def see(x):
            log.append(x)
            return x

        return (
            sum(see(x) for x in xs),
            any(see(x) > 2 for x in xs),
            all(see(x) < 3 for x in xs),
            any(see(x * y) == 4 for x in xs for y in xs),
            all(see(x + y) < 5 for x in xs if x for y in xs),
            any(see(z) == 4 for z in (x * y for x in xs for y in xs)),
            max((x for x in xs), default=None),
            sorted((x for x in xs), key=lambda v: -v, reverse=True),
            tuple(x for x in xs),
            {k: 1 for k in set(x for x in xs)},
            ",".join(str(x) for x in xs),
            dict((x, see(x)) for x in xs),
            print(*(x for x in ()), end="", sep=""),
        )

    check(consume, ([1, 2, 3], []), ([], []), ([5, 0], []))


def test_lazy_loop_over_generator():
    def interleaved(xs):
        for y in (x * 2 for x in xs if x > 0):
            if y > 6:
                break
            if y > 20:
                continue
            if len(xs) < 6:
                xs.append(y)
        else:
            return xs, "else"
        return xs, y

    def fused(xs):
        return [y + z for y in (x * 2 for x in xs) for z in (w for w in xs if w < y)]

    def unpacked(xs):
        a, *b = (x + 1 for x in xs)
        return a, b

    check(interleaved, [1, 2], [], [1], [-1, -2])
    check(fused, [1, 2, 3])
    check(unpacked, [1, 2, 3], [])
