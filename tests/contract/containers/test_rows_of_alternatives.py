"""Lists, dicts and sets of computed length whose elements and keys are one of several things: strings, None and numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.random.default_rng(0).random(100)
SIZES = [(X,), (X[:70],), (X[:4],), (X[:1],), (X[:0],), (1 - X,)]


# ---------------------------------------------------------------- keys


@cases.each(*SIZES)
def counts_reasons(x):
    reasons = {}
    for v in x:
        if v > 0.6:
            why = "stop"
        elif v > 0.3:
            why = "signal"
        else:
            continue
        reasons[why] = reasons.get(why, 0) + 1
    return reasons


@cases.each(*SIZES)
def keys_of_branches(x):
    last = {}
    for i, v in enumerate(x):
        if v > 0.6:
            last["up"] = i
        elif v < 0.4:
            last["down"] = i
    return last, last.get("up"), "down" in last, len(last), sorted(last), list(last.values())


@cases.each(*SIZES)
def deletes_a_key(x):
    found = {}
    for i, v in enumerate(x):
        key = "high" if v > 0.5 else "low"
        if key in found and v > 0.9:
            del found[key]
        else:
            found[key] = i
    return found


@cases.each(*SIZES)
def keys_of_pairs(x):
    totals = {}
    for i, v in enumerate(x):
        key = ("high" if v > 0.5 else "low", i % 3)
        totals[key] = totals.get(key, 0.0) + v
    return totals, sorted(totals), ("high", 1) in totals, max(totals.values(), default=0.0)


@cases.each(*SIZES)
def counter_of_strings(x):
    found = Counter()
    for v in x:
        found["a" if v > 0.7 else "b" if v > 0.5 else "c"] += 1
    return found, found["b"], found["d"]


@cases.each(*SIZES)
def lists_by_string(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups["odd" if v > 0.5 else "even"].append(i)
    return {k: len(v) for k, v in groups.items()}, groups["odd"]


@cases.each(*SIZES)
def set_of_strings(x):
    seen = set()
    for v in x:
        if v > 0.8:
            seen.add("far")
        elif v < 0.2:
            seen.add("near")
    return seen, len(seen), "far" in seen, sorted(seen)


@cases.each(*SIZES)
def items_in_order(x):
    found = {}
    for i, v in enumerate(x):
        found["p" if v > 0.5 else "q"] = i
    total = 0
    for key, value in found.items():
        total += value if key == "p" else -value
    return total


# ---------------------------------------------------------------- elements


@cases.each(*SIZES)
def labels(x):
    found = []
    for v in x:
        if v > 0.6:
            found.append("a")
        elif v > 0.3:
            found.append("b")
    return found, found[-1:], found.count("b"), "a" in found


@cases.each(*SIZES)
def first_label(x):
    found = []
    for v in x:
        if v > 0.3:
            found.append("a" if v > 0.6 else "b")
    return found.index("b") if "b" in found else -1, [s == "a" for s in found]


@cases.each(*SIZES)
def orders_records(x):
    found = []
    for v in x:
        if v > 0.6:
            found.append(("sell", float(v)))
        elif v > 0.3:
            found.append(("buy", 2 * float(v)))
    found.sort()
    return found, sorted(found, key=lambda r: r[0], reverse=True), [s for s, _ in found]


@cases.each(*SIZES)
def none_or_a_number(x):
    found = []
    for v in x:
        if v > 0.6:
            found.append(None)
        elif v > 0.3:
            found.append(float(v))
    total = 0.0
    for each in found:
        if each is not None:
            total += each
    return found, total, sum(each is None for each in found)


@cases.each(*SIZES)
def looks_for_kinds(x):
    found = []
    for v in x:
        if v > 0.6:
            found.append("x")
        elif v > 0.4:
            found.append(True)
        elif v > 0.2:
            found.append(None)
        else:
            found.append(2.0)
    return 1 in found, None in found, "x" in found, found.count(1), found.count(None), found == found


@cases(None)
@cases(X[0])
def tuples_with_alternatives(v):
    first = (None if v is None or v > 0.5 else v, 1)
    return first == (None, 1), (v, 1) in [first, (2.0, 1)]


@cases.each(*SIZES)
def open_periods(x):
    periods = []
    start = None
    for i, v in enumerate(x):
        if v > 0.5 and start is None:
            start = i
        elif v < 0.5 and start is not None:
            periods.append((start, i, "short" if i - start < 2 else "long"))
            start = None
    if start is not None:
        periods.append((start, None, "open"))
    return periods


@cases.each(*SIZES)
def stores_a_label(x):
    found = []
    for v in x:
        if v > 0.3:
            found.append("a")
    for i in range(len(found)):
        if i % 2:
            found[i] = "b"
    found.reverse()
    found.extend(["c", "a"])
    return found, found.pop(), found


@cases.each(*SIZES)
def tells_by_name(x):
    weights = {"a": 1.0, "b": -2.0}
    found = []
    for v in x:
        if v > 0.3:
            found.append("a" if v > 0.6 else "b")
    total = 0.0
    for name in found:
        total += weights[name]
    return total


# ---------------------------------------------------------------- objects


@dataclass
class Trade:
    """A trade as scripts keep it."""

    kind: str
    price: float
    end: int | None = None


@cases.each(*SIZES)
def objects_of_two_kinds(x):
    found = []
    for v in x:
        if v > 0.6:
            found.append(Trade("long", v))
        elif v < 0.4:
            found.append(Trade("short", v))
    total = 0.0
    for trade in found:
        total += trade.price if trade.kind == "long" else -trade.price
    return found, total


@cases.each(*SIZES)
def objects_that_change(x):
    found = []
    for i, v in enumerate(x):
        if v > 0.6:
            found.append(Trade("open", v))
        elif found and v < 0.2:
            found[-1].end = i
            found[-1].kind = "closed"
    return found, sum(trade.end is None for trade in found), [t.kind for t in found]


@cases.each((X,), (X[:4],), (X[:1],))
def stores_another_kind(x):
    found = []
    for v in x:
        if v > 0:
            found.append(Trade("open", v))
    found[0].kind = "closed"
    return found


@cases.each(*SIZES)
def dicts_of_two_kinds(x):
    found = []
    for i, v in enumerate(x):
        if v > 0.6:
            found.append({"name": "up", "at": i})
        elif v < 0.2:
            found.append({"name": "down", "at": i})
    found.sort(key=lambda d: (d["name"], -d["at"]))
    return found


@cases(2.5)
def objects_known_in_each_trip(x):
    names, found = ("p", "q", "r"), []
    for i in range(6):
        found.append(Trade(names[i % 3], x * i))
    return found, {trade.kind: trade for trade in found}, ",".join([trade.kind for trade in found])


# ---------------------------------------------------------------- few trips, which are written out


@cases(1.5)
def known_in_each_trip(x):
    names, values = [], {}
    for i in range(5):
        if i % 2:
            names.append("a")
            values["odd"] = x * i
        else:
            names.append("b")
            values[str(i)] = x
    return ",".join(names), {n: x for n in names}, values


@cases.each((X[:5],), (-X[:5],))
def few_trips_over_data(x):
    found, ways = [], {}
    for v in x:
        if v > 0.5:
            found.append("a")
            ways["up"] = v
        else:
            found.append("b")
            ways["down"] = v
    return found, ways


def of_unlike_keys(x):
    found = [{"values": x}]
    if x.sum() > 0:
        found.append({"value": x})
    return found


def test_refused():
    check(of_unlike_keys, X, refused="PS301")


# ---------------------------------------------------------------- numbers of several kinds, or None

HALVES = np.array([2.0, 0.5, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**62), 1.0, 2.0])
WHOLE = np.array([2, 1, 2**53 + 1, 2**53 - 1, 2**63 - 1, -(2**62) - 1, 1, 2**63 - 513])


@cases.each(*[(np.roll(HALVES, k), WHOLE, k % 3) for k in range(8)], (HALVES[:0], WHOLE[:0], 0))
def sorts_ints_among_floats(x, n, which):
    mixed = []
    for i, (a, b) in enumerate(zip(x.tolist(), n.tolist())):
        if i % 3 >= which:
            mixed.append(a if i % 2 else b)
    by_tuples = sorted([(v, i) for i, v in enumerate(mixed)])
    return (
        mixed,
        sorted(mixed),
        sorted(mixed, reverse=True),
        by_tuples,
        sorted(mixed, key=lambda v: (v > 1, -v)),
    )


@cases.each(*SIZES)
def sorts_totals(x):
    groups = [[] for _ in range(8)]
    for v in x:
        if v > 0.4:
            groups[int(v * 8)].append(v)
    totals = [(i, round(sum(g), 2)) for i, g in enumerate(groups) if len(x) > i]
    return sorted((t for t in totals if t[1] < 8), key=lambda t: -t[1])


@cases(np.array([2.0, 0.5, 3.0, 1.0, 2.0, 7.0]), np.array([2, 1, 5, 4, 2, 9]))
@cases(HALVES[:1], WHOLE[:1])
def sorts_tuples_of_several_kinds(x, n):
    found = []
    for a, b in zip(x, n):
        t = ()
        for k in range(3):
            if a > k:
                t = (*t, a if b % 2 else b)
        found.append(t)
    return found, sorted(found)


def numpy_integers_among_floats(x, n):
    mixed = []
    for a, b in zip(x, n):
        if a < 1e30:
            mixed.append(a if a < 2 else b)
    return sorted(mixed)


@cases.each(*SIZES)
def arrays_of_what_is_not_none(x):
    peaks = []
    for v in x:
        peak = None
        if v > 0.5:
            peak = v * 2
        peaks.append(peak)
    some = [p for p in peaks if p is not None]
    return (
        np.array([p for p in peaks if p]),
        np.array(some, dtype=float).sum(),
        len(np.asarray(some)),
        sorted(some),
    )


def array_with_none(x):
    peaks = []
    for v in x:
        peaks.append(v if v > 0.5 else None)
    return np.array(peaks)


def test_what_depends_on_the_kinds_in_the_run() -> None:
    check(numpy_integers_among_floats, HALVES[:2], WHOLE[:2])
    check(numpy_integers_among_floats, HALVES, WHOLE, refused="PS401")
    check(array_with_none, X[X > 0.5])
    check(array_with_none, X, refused="PS401")


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_rows_of_alternatives(function, args, options):
    check(function, *args, **options)
