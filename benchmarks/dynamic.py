"""Programs whose sizes only the run knows: staged, plain, and by Numba where that is installed and takes them.

Each is run on ndarrays and lists, in turn; the least time of the rounds counts, as what disturbs only adds. The first
call is of a new process's caches, its compilation included. A new program is one more `Case` in `CASES`.
"""

from __future__ import annotations

import copy
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

import pystage

from .measuring import Table, no_collection

ROUNDS = 15
SECONDS = 2.0  # for the rounds of one program, of which there are at least three


class Case(NamedTuple):
    """A program, what it is given, and why it is slower than one of the others, where it is."""

    name: str
    plain: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    cause: str = ""


RNG = np.random.default_rng


def sieve(n):
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[:2] = False
    for p in range(2, int(n**0.5) + 1):
        if prime[p]:
            prime[p * p :: p] = False
    return np.nonzero(prime)[0]


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return a


def lu(a):
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
            order[k], order[p] = order[p], order[k]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, order


def levinson(r):
    n = len(r)
    a = np.zeros(n)
    a[0] = 1.0
    error = r[0]
    for k in range(1, n):
        reflection = -np.dot(a[:k], r[k:0:-1]) / error
        a[1 : k + 1] += reflection * a[:k][::-1].copy()
        error *= 1.0 - reflection * reflection
    return a, error


def running_medians(x, widths):
    out = np.zeros(len(x))
    for i in range(len(x)):
        w = min(max(widths[i], 1), 20)
        out[i] = np.median(x[max(i - w, 0) : min(i + w + 1, len(x))])
    return out


def suppressed(boxes, scores, limit):
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1) * (y2 - y1)
    order = np.argsort(-scores)
    kept = []
    while order.size > 0:
        i = order[0]
        kept.append(i)
        rest = order[1:]
        width = np.maximum(np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]), 0.0)
        height = np.maximum(np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]), 0.0)
        both = width * height
        order = rest[both / (areas[i] + areas[rest] - both) <= limit]
    return kept


def run_lengths(x):
    values, counts = [], []
    count = 1
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            count += 1
        else:
            values.append(x[i - 1])
            counts.append(count)
            count = 1
    values.append(x[-1])
    counts.append(count)
    return values, counts


def run_lengths_of_arrays(x):
    starts = np.append(0, np.flatnonzero(x[1:] != x[:-1]) + 1)
    return x[starts], np.diff(np.append(starts, len(x)))


def nearest(points, labels, queries, k):
    found = np.zeros(len(queries), dtype=np.int64)
    for i in range(len(queries)):
        distances = ((points - queries[i]) ** 2).sum(axis=1)
        limit = np.sort(distances)[k - 1]
        found[i] = np.argmax(np.bincount(labels[distances <= limit]))
    return found


def factors(n):
    found = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    if n > 1:
        found.append(n)
    return found


def components(image):
    rows, columns = image.shape
    labels = np.zeros((rows, columns), dtype=np.int64)
    count = 0
    for r in range(rows):
        for c in range(columns):
            if image[r, c] and labels[r, c] == 0:
                count += 1
                labels[r, c] = count
                queue = [(r, c)]
                head = 0
                while head < len(queue):
                    i, j = queue[head]
                    head += 1
                    for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                        y, x = i + di, j + dj
                        if 0 <= y < rows and 0 <= x < columns and image[y, x] and labels[y, x] == 0:
                            labels[y, x] = count
                            queue.append((y, x))
    return labels, count


def csr_product(data, indices, starts, x):
    out = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        out[i] = np.sum(data[lo:hi] * x[indices[lo:hi]])
    return out


def positive(n: int) -> Any:
    """A symmetric positive-definite matrix of `n` rows."""
    a = RNG(0).standard_normal((n, n))
    return a @ a.T / n + 4 * np.eye(n)


def _boxes(n: int) -> tuple[Any, ...]:
    corner, size = RNG(1).uniform(0, 100, (n, 2)), RNG(2).uniform(5, 20, (n, 2))
    return np.hstack([corner, corner + size]), RNG(3).uniform(size=n), 0.3


def _sparse(rows: int, most: int) -> tuple[Any, ...]:
    counts = RNG(4).integers(0, most, rows)
    starts = np.concatenate(([0], np.cumsum(counts)))
    size = int(starts[-1])
    return RNG(5).standard_normal(size), RNG(6).integers(0, rows, size), starts, RNG(7).standard_normal(rows)


CASES = (
    Case(
        "sieve, 10⁶",
        sieve,
        lambda: (1_000_000,),
        "each place is stored by itself, where NumPy steps through memory",
    ),
    Case(
        "Cholesky by rows, n = 500",
        cholesky,
        lambda: (positive(500),),
        "a slice of computed length costs what its bound costs",
    ),
    Case("LU in place with pivots, n = 500", lu, lambda: (RNG(8).standard_normal((500, 500)),)),
    Case(
        "Levinson, n = 2,000",
        levinson,
        lambda: (0.9 ** np.arange(2_000.0),),
        "a slice of computed length costs what its bound costs",
    ),
    Case(
        "running medians, 10⁴",
        running_medians,
        lambda: (RNG(9).standard_normal(10_000), RNG(10).integers(1, 20, 10_000)),
        "XLA sorts the bound, 41 elements, by a call for each comparison, 1.8 µs; with sums in place of medians it takes "
        "0.3 ms",
    ),
    Case(
        "non-maximum suppression, 2,000 boxes",
        suppressed,
        lambda: _boxes(2_000),
        "each of 363 rounds costs what its bound costs, 2,000 boxes, of which 568 are left in the mean",
    ),
    Case(
        "run-length coding into lists, 10⁵",
        run_lengths,
        lambda: (RNG(11).integers(0, 2, 100_000),),
        "the loop takes a fifth; the rest makes the objects of two lists, one of NumPy's scalars, where Numba gives ints",
    ),
    Case(
        "run-length coding, 10⁶",
        run_lengths_of_arrays,
        lambda: (RNG(11).integers(0, 2, 1_000_000),),
        "each array has the memory of its bound, a million elements, where NumPy's have half as many; "
        "and an ndarray that is not aligned to 64 bytes is copied first",
    ),
    Case(
        "k nearest by masks, 500 of 1,000",
        nearest,
        lambda: (
            RNG(12).standard_normal((1_000, 8)),
            RNG(13).integers(0, 5, 1_000),
            RNG(14).standard_normal((500, 8)),
            7,
        ),
    ),
    Case(
        "prime factors into a list",
        factors,
        lambda: (2**6 * 3**4 * 1_000_003 * 999_983,),
        "an inner loop in each of a million trips: 4.6 ns, 2.4 without it; XLA:CPU keeps what loops carry in memory",
    ),
    Case(
        "connected components, 200²",
        components,
        lambda: (RNG(15).uniform(size=(200, 200)) < 0.6,),
        "loops in loops, whose variables XLA:CPU keeps in memory",
    ),
    Case(
        "CSR product, 5,000 rows",
        csr_product,
        lambda: _sparse(5_000, 40),
        "a row costs what its capacity costs, 256 elements",
    ),
)


class Times(NamedTuple):
    """The first call and the least of the others, in seconds; None where it takes no such program."""

    first: float
    steady: float


def with_numba(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function compiled by Numba; None where Numba is not installed."""
    if importlib.util.find_spec("numba") is None:
        return None
    import numba

    warnings.simplefilter("ignore")
    compiled: Callable[..., Any] = numba.njit(function)
    return compiled


def times(case: Case) -> list[Times | None]:
    """The times of a program staged, plain, and by Numba; it fails where the results differ."""
    args = case.inputs()
    runs = [pystage.compile(case.plain, fallback="error"), case.plain, with_numba(case.plain)]
    expected = jax.tree.leaves(case.plain(*copy.deepcopy(args)))
    first: list[float | None] = []
    for run in runs:
        try:
            first.append(None if run is None else _seconds(run, args, expected))
        except Exception as error:
            if not isinstance(error, pystage.StagingError) and not type(error).__module__.startswith("numba"):
                raise
            first.append(None)
    least = [float("inf")] * len(runs)
    end = time.perf_counter() + SECONDS
    with no_collection():
        for done in range(ROUNDS):
            if done >= 3 and time.perf_counter() > end:
                break
            for i, run in enumerate(runs):
                if run is not None and first[i] is not None:
                    least[i] = min(least[i], _seconds(run, args))
    return [None if a is None else Times(a, b) for a, b in zip(first, least, strict=True)]


def _seconds(run: Callable[..., Any], args: tuple[Any, ...], expected: list[Any] | None = None) -> float:
    own = copy.deepcopy(args)
    start = time.perf_counter()
    found = run(*own)
    taken = time.perf_counter() - start
    if expected is not None:
        for ours, theirs in zip(jax.tree.leaves(found), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    return taken


def measure() -> list[Table]:
    """The times of all programs, and the causes of what is slower than the plain run or Numba."""
    table = Table(
        "Sizes that only the run knows",
        f"One call, in ms; the least of at most {ROUNDS} rounds of the three in turn. First calls compile. The goal: 20 "
        "times the plain run in the geometric mean, none slower than it, first calls under 3 s.",
        ("", "pystage", "plain", "Numba", "pystage, first", "Numba, first", "of plain", "of Numba"),
    )
    ratios: list[float] = []
    by_numba: list[float] = []
    losses: list[tuple[str, ...]] = []
    has_numba = importlib.util.find_spec("numba") is not None
    for case in CASES:
        staged, plain, numba = times(case)
        assert plain is not None
        if staged is None:
            table.rows.append((case.name, "refused", _ms(plain.steady), *[""] * 5))
            losses.append((case.name, "refused"))
            continue
        ratios.append(plain.steady / staged.steady)
        of_numba = None if numba is None else numba.steady / staged.steady
        if numba is not None:
            by_numba.append(plain.steady / numba.steady)
        missing = "refused" if has_numba else ""
        ms = [_ms(t.steady) if t else missing for t in (staged, plain, numba)]
        ms += [_ms(staged.first), _ms(numba.first) if numba else ""]
        of_others = [f"{ratios[-1]:.2g}", "" if of_numba is None else f"{of_numba:.2g}"]
        table.rows.append((case.name, *ms, *of_others))
        if min(ratios[-1], of_numba or 1.0) < 1:
            losses.append((case.name, case.cause or "not known yet"))
    for name, speedups in (("geometric mean", ratios), ("that of Numba", by_numba)):
        if speedups:
            table.rows.append((name, *[""] * 5, f"{statistics.geometric_mean(speedups):.1f}", ""))
    return [
        table,
        Table("Sizes that only the run knows: where it is slower", "And why.", ("", "cause"), losses),
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.{0 if seconds >= 0.1 else 2}f}"
