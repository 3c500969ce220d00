"""Structured (record) arrays: structs of arrays inside of a program, records for the caller."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

PACKED = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f8", (3,))])
ALIGNED = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (3,)), ("b", "?")], align=True)
FLAT = np.dtype([("x", "f8"), ("n", "i4")])
NESTED = np.dtype([("k", "i2"), ("p", [("x", "f4"), ("y", "f8", (2,))]), ("z", "c16")])
VECTORS = np.dtype([("v", "f8", (2,)), ("w", "i8", (2, 2))])
SPACED = np.dtype({"names": ["x", "n"], "formats": ["f8", "i4"], "offsets": [4, 16], "itemsize": 24})


def filled(dtype, *shape):
    """Records whose numbers all differ."""
    made, start = np.zeros(shape or (4,), dtype), 0

    def fill(array):
        nonlocal start
        if array.dtype.names is None:
            array[...] = (np.arange(array.size).reshape(array.shape) * 7 + start) % 11
            start += 3
        for name in array.dtype.names or ():
            fill(array[name])

    fill(made)
    return made


cases = Cases()
of_packed = cases.each((filled(PACKED),), (filled(ALIGNED),), (filled(PACKED, 0),))
of_flat_elements = cases(filled(FLAT), raises=IndexError)
of_flat = cases.each((filled(FLAT),), (filled(SPACED),), (filled(FLAT, 7)[::2],))


# ---------------------------------------------------------------- fields


@of_packed
def field(a):
    return a["x"] * 2, a["n"].sum(), a["v"][:, 1]


@of_packed
def stored_field(a):
    a["x"] = a["n"] * 2
    a["v"] = 1
    a["n"] += 1
    return len(a)


@of_packed
def field_is_a_view(a):
    x, v = a["x"], a["v"]
    x += 1
    v[:, 0] = x
    return x, v, a["x"].sum()


@of_packed
def fields_are_given_back(a):
    x = a["x"]
    return x, x, a["x"], a["v"], a["v"][..., 1:]


@of_flat
def field_of_a_slice(a):
    a[1:]["x"] += 1
    part = a[::-1]["n"]
    part[0] = 9
    return part, a["x"][1:]


@of_flat
def masked_field(a):
    a["x"][a["n"] > 3] = -1.0
    return a["x"][a["n"] > 3], a["n"][a["x"] > 0]


@of_flat
def several_fields(a):
    b = a[["n"]]
    b["n"] = 5
    return b, a[["n", "x"]]


@cases(filled(FLAT))
def swapped_fields(a):
    a[["x", "n"]] = a[["n", "x"]]


@cases(filled(NESTED))
def nested(a):
    a["p"]["x"] += 1
    p = a["p"]
    p["y"][:, 0] = a["k"]
    a["z"] = a["p"]["x"] * 1j
    return p, p[1], a["p"]["y"], a[2]["p"]["x"], a[2]["p"]


@cases(filled(NESTED))
def stored_structure(a):
    a["p"] = (1.0, [2.0, 3.0])
    a[1]["p"] = (4.0, 5.0)
    a["p"][2] = a["p"][1]
    a[3] = (7, (8.0, 9.0), 1j)


@cases(filled(VECTORS))
def fields_of_arrays(a):
    b = a[1:]
    b["v"][0] = -1
    a[0]["w"][1] = 3
    return b, a[2], a["w"].sum(axis=0), a[::2], a[:, None], a.T


@cases(filled(PACKED))
def reshaped_field(a):
    """Memory with gaps: a copy, where the memory of an ndarray of its own gives a view."""
    v = a["v"].reshape(-1)
    v[0] = 99.0
    x = a["x"].ravel()
    x[0] = 99.0
    w = a["x"].reshape(2, 2)
    w[0, 1] = 77.0
    return v, x, w


@cases(filled(np.dtype([("v", "f8", (3,))])))
def reshaped_only_field(a):
    v = a["v"].reshape(-1)
    v[0] = 99.0
    return a["v"].ravel()


# ---------------------------------------------------------------- elements


@of_flat
def element(a):
    row = a[1]
    row["x"] = 7.5
    row[1] = 3
    return row, row["x"], row[0], row[-1], a["x"][1], len(row)


@of_flat
def element_sees_stores(a):
    row = a[1]
    a["x"][1] = 5.0
    before = row["x"]
    a[1] = (6.0, 7)
    return before, row["x"], row


@cases(filled(PACKED))
def array_in_an_element(a):
    row = a[2]
    row["v"][1:] = row["x"]
    row["v"] = row["v"][::-1]
    a[0]["v"] = 4
    return row["v"]


@cases(filled(FLAT), 2)
@cases(filled(FLAT), -1)
def element_at_a_computed_place(a, i):
    a[i]["x"] += 1
    a[i - 1] = a[i]
    return a[i], a[i]["n"], a[i - 1 : i + 1] if i > 0 else None


@of_flat
def loop_over_elements(a):
    total = 0.0
    for row in a:
        total += row["x"]
        row["n"] = total
    return total


@cases(filled(FLAT, 40))
def long_loop_over_elements(a):
    best = 0.0
    for i, row in enumerate(a):
        if row["x"] > best:
            best = row["x"]
        row["x"] = i
        a[i]["n"] += 1
    return best


@cases(filled(FLAT), filled(SPACED)[::-1])
def loop_over_two(a, b):
    for left, right in zip(a, b):
        left["x"], right["n"] = right["x"], left["n"]


@of_flat
def unpacked_element(a):
    x, n = a[1]
    return x, n, tuple(a[2]), list(a[0]), [row["x"] for row in a], a[1].item(), a[0].tolist()


@cases(filled(FLAT))
def element_given_back(a):
    row = a[1]
    copy = row.copy()
    copy["x"] = 5.0
    return row, copy, a[1], (row, row)


# ---------------------------------------------------------------- parts


@of_packed
def part(a):
    b = a[1:3]
    b["n"] = 8
    return b, a[::-1], a[...], a[None], a[:, None]


@of_flat
def selected(a):
    b = a[a["x"] > 2]
    b["x"] = 0
    return b, a[[2, 0, 0]], a[np.array([1, -1])]


@of_packed
def elements_of_a_computed_number(a):
    b = a[a["x"] > 2]
    total = 0.0
    for row in b:
        total += row["x"]
    try:
        first, last = b[0], b[-1]
        last["x"] = 7.0
        b[0] = b[1]
        most = b[np.argmax(b["x"])]
        return b, total, first["x"], first["n"] + last["n"], most["v"]
    except IndexError:
        return b, total, -1


@of_packed
def selected_of_packed(a):
    return a[a["x"] > 2], a[a["n"] > 100], a[np.argsort(a["x"], kind="stable")]


@cases(filled(FLAT), 3)
def computed_slice(a, n):
    k = 0
    while k * k < n:
        k += 1
    part = a[:k]
    part["x"] = 5.0
    return part, len(part), a[k:]["n"].sum()


@cases(filled(PACKED, 3, 2))
def two_axes(a):
    a[1, 0]["x"] = 5.0
    a[2]["n"] = 3
    a[:, 1]["v"] = 2.0
    return a[0, 1], a[1], a.T, a[..., 0], a.shape, a.ndim, a.size, len(a), a["v"].shape, a[1, 1:]["x"]


@cases(filled(PACKED, 3, 2))
def loop_over_rows(a):
    for row in a:
        for each in row:
            each["x"] += each["n"]


@cases(filled(FLAT))
def stored_parts(a):
    a[1:] = a[:-1]
    a[[0, 2]] = a[3]
    a[a["n"] > 5] = (1.0, 2)
    a[:1] = [(5.0, 6)]
    a[-1] = 3


@cases(filled(FLAT), filled(np.dtype([("a", "i8"), ("b", "f4")])))
def stored_of_another_dtype(a, b):
    a[0] = b[1]
    a[2:] = b[:2]


@cases(filled(PACKED), filled(PACKED)[::-1])
def stored_of_another_array(a, b):
    a[1:3] = b[:2]
    a[0] = b[3]
    b["v"][0] = a["v"][1]


# ---------------------------------------------------------------- new ones


@cases(2.5, 3)
def made(x, n):
    a = np.zeros(3, PACKED)
    a["x"] = x
    a[1] = (x, n, [1, 2, 3])
    b = np.empty(2, dtype=ALIGNED)
    b[:] = (x, n, 0, True)
    return a, a["x"], a[1:], a[1], b, np.zeros((2, 1), FLAT), np.ones(2, FLAT)


@cases(2.5, 3)
def made_of_tuples(x, n):
    a = np.array([(x, n), (1.0, 2)], FLAT)
    b = np.array([(x, 1)], dtype=[("x", "f8"), ("n", "i4")])
    c = np.array((x, n), FLAT)
    return a, b, c, c["x"], c[()]


@cases(2.5)
def field_of_a_new_one(x):
    a = np.zeros(3, FLAT)
    v = a["x"]
    v[1] = x
    return v, a


@of_packed
def copies(a):
    b = a.copy()
    b["x"] = 0
    c = np.copy(a)
    c["n"] = 1
    d = np.array(a)
    return a, b, c, d, np.zeros_like(a), np.empty_like(a)["x"].shape, np.asarray(a)


@cases(filled(FLAT), filled(FLAT))
def joined(a, b):
    return np.concatenate([a, b]), np.concatenate((a[1:], b, a)), np.append(a, b)


@cases(filled(FLAT, 9))
@cases(filled(np.dtype([("n", "i4"), ("x", "f8"), ("c", "c8")]), 9))
def in_order(a):
    a.sort(order="n")
    return np.sort(a, order="x"), np.sort(a), np.sort(a, order=["n", "x"]), a[np.argsort(a["x"])]["x"]


def repeated(dtype, n):
    """Records of which some are alike, and others in one field."""
    made = filled(dtype, n)
    made[dtype.names[0]] //= 4
    made[1::3] = made[: len(made[1::3])]
    return made


@cases.each((repeated(FLAT, 14),), (repeated(SPACED, 5),), (filled(FLAT, 0),))
def places_in_order(a):
    places = np.argsort(a, order="n", kind="stable")
    a.sort(order=("x", "n"), kind="heapsort")
    by_all = a[a["x"] > 0].argsort(kind="mergesort")
    return places, np.argsort(a, order=["x"], stable=True), by_all, np.sort(a, 0, "stable", "x")


@cases.each((repeated(FLAT, 14),), (repeated(SPACED, 5),), (filled(FLAT, 0),), (repeated(FLAT, 1),))
def unique(a):
    values, first, inverse, counts = np.unique(a, True, True, True)
    return values, first, inverse, counts, np.unique(a), np.unique(a[a["n"] > 2], return_counts=True)


@cases.each(*[(filled(dtype), filled(dtype)[::-1]) for dtype in (FLAT, PACKED, NESTED, SPACED, VECTORS)])
def chosen(a, b):
    mask = np.array([True, False, False, True])
    first = np.where(mask, a, b)
    first[1] = a[0]
    return first, np.where(mask, a, b[2]), np.where(mask[:, None], a, b), np.where(len(a) > 2, a, b)


@cases(filled(FLAT), filled(FLAT))
@cases(filled(PACKED), filled(PACKED))
@cases(filled(NESTED), filled(NESTED))
def compared(a, b):
    b[names_of(b)[0]][1] = 100
    same = np.array_equal(a, a[:]), np.array_equal(a, b), np.array_equal(a, a[1:])
    return a == b, a != b, a[1] == b[1], a[0] == b[0], a == a[0], same


def names_of(a):
    return a.dtype.names


@of_packed
def described(a):
    kinds = type(a) is np.ndarray, isinstance(a, np.ndarray), [type(row) is np.void for row in a]
    sizes = a.size, a.itemsize, a.nbytes, a.dtype.itemsize, np.shape(a), np.ndim(a)
    return a.dtype, a.dtype.names, a.shape, len(a), kinds, sizes


# ---------------------------------------------------------------- recarrays


def recarray(n=4):
    return filled(PACKED, n).view(np.recarray)


@cases(recarray())
@cases(recarray(0))
def attributes(a):
    a.x += 1
    a.n = 3
    a["v"][:, 0] = a.x
    rest = a[1:]
    kinds = (
        type(a) is np.recarray,
        isinstance(a, np.ndarray),
        hasattr(a, "x"),
        [type(row) is np.record for row in a],
    )
    return a.x, a["n"], rest, rest.v, a[a.x > 3], a.copy(), a[["x", "n"]], a.T, a.shape, a.dtype, kinds


@cases(recarray())
def attributes_of_elements(a):
    for row in a:
        row.x *= row.n
        row["n"] = 1
    row = a[2]
    row.v[1] = 50
    row.v = row.v[::-1]
    return row, row.x, row.copy(), a[0].n, hasattr(row, "x"), hasattr(row, "foo"), getattr(row, "foo", 3)


@cases(recarray(), recarray()[::-1])
def stored_records(a, b):
    a[0] = b[1]
    a[1:3] = b[:2]
    setattr(a, "x", 4)
    return a


@cases(recarray(), 30)
@cases(recarray(), 10)
def one_or_the_other_recarray(a, least):
    b = a if a.x.sum() > least else a.copy()
    b.x = 5
    return b, b[0].n


# ---------------------------------------------------------------- names of one record


@cases(filled(FLAT), filled(FLAT), True)
@cases(filled(FLAT), filled(FLAT), False)
def one_or_the_other(a, b, c):
    t = a if c else b
    t["x"] += 1
    t[0]["n"] = 7
    return t["n"].sum(), t[1]["x"], a is b, a is a


@cases(filled(FLAT), 3)
@cases(filled(FLAT), -3)
def one_or_the_other_by_the_run(a, n):
    b = np.zeros(4, FLAT)
    t = a if a["x"].sum() + n > 20 else b
    t["x"] += 1
    t[0]["n"] = 7
    return t["n"].sum(), t[1]["x"], b


@cases(filled(FLAT, 6))
def swapped_elements(a):
    for i in range(len(a) - 1):
        if a[i]["x"] > a[i + 1]["x"]:
            kept = a[i].copy()
            a[i] = a[i + 1]
            a[i + 1] = kept


@cases(filled(FLAT, 6))
def passed_on(a):
    def double(row):
        row["x"] *= 2
        return row["n"]

    def grow(records, by):
        records["n"] += by
        return records[1:]

    rest = grow(a, 3)
    total = 0
    for row in a:
        total += double(row)
    return total, double(a[0]), double(rest[0]), grow(rest, 1)


class Holder:
    def __init__(self, records):
        self.records = records
        self.kept = records[0]


@cases(filled(FLAT))
def held(a):
    holder = Holder(a)
    holder.records["x"] += 1
    holder.kept["n"] = 50
    pair = {"a": a, "rest": [a[1:], a]}
    pair["rest"][0]["n"] = 3
    return holder, pair


@cases.each((filled(FLAT),), (filled(FLAT, 0),))
def not_for_all(a):
    if len(a) and a["x"][0] > 100:
        raise ValueError("too large")
    return a["x"]


# ---------------------------------------------------------------- exceptions


ERRORS = {
    "unknown field": lambda a: a["foo"],
    "unknown field of an element": lambda a: a[0]["foo"],
    "unknown field among several": lambda a: a[["x", "foo"]],
    "place outside": lambda a: a[7],
    "too many indices": lambda a: a[0, 1],
    "element's place outside": lambda a: a[0][5],
    "no attribute": lambda a: a.foo,
    "no attribute of an element": lambda a: a[0].foo,
    "tuple too short": lambda a: np.array([(1.0,)], FLAT),
    "unknown order": lambda a: np.sort(a, order="q"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_exceptions(name):
    def run(a):
        return ERRORS[name](a)

    with pytest.raises((ValueError, IndexError, KeyError, AttributeError)) as caught:
        run(filled(FLAT))
    check(run, filled(FLAT), raises=caught.type)


def test_exceptions_of_recarrays():
    def unknown(a):
        return a[0].foo

    def unknown_field(a):
        return a["foo"]

    def sequence(a):
        a[0].x = [1, 2]

    def too_large(a):
        a.n = 2**40

    check(unknown, recarray(), raises=AttributeError)
    check(unknown_field, recarray(), raises=ValueError)
    check(sequence, recarray(), raises=ValueError)
    check(too_large, recarray(), raises=OverflowError)
    check(lambda a: a.foo, recarray(), refused="PS606")
    check(lambda a: a == a, recarray(), refused="PS606")
    check(lambda a: np.concatenate([a, a]), recarray(), refused="PS606")


def test_exceptions_of_stores():
    def short(a):
        a[0] = (1.0,)

    def other_shape(a):
        a["x"] = [1, 2]

    def other_records(a):
        a[:] = a[:2]

    def too_large(a):
        a[1] = (5.0, 2**40)

    def too_large_for_all(a):
        a[:] = (5.0, 2**40)

    def sequence(a):
        a[1] = ((1, 2), 5)

    def unknown(a):
        a["foo"] = 1

    for function in (short, other_shape, other_records, sequence, unknown):
        check(function, filled(FLAT), raises=ValueError)
    for function in (too_large, too_large_for_all):
        check(function, filled(FLAT), raises=OverflowError)


def test_stores_before_an_exception_are_seen():
    def function(a, limit):
        for row in a:
            row["x"] += 1
            if row["x"] > limit:
                raise ValueError("too large")

    check(function, filled(FLAT, 20), 8.0, raises=ValueError)
    check(function, filled(FLAT, 20), 80.0)


def test_read_only():
    a = filled(FLAT)
    a.flags.writeable = False

    def store(a):
        a["x"] = 1

    def store_element(a):
        a[0] = (1.0, 2)

    def store_into_element(a):
        a[0]["x"] = 2.0

    for function in (store, store_element, store_into_element):
        with pytest.raises(ValueError, match="read-only"):
            pystage.compile(function, fallback="error")(a)
        with pytest.raises(ValueError, match="read-only"):
            function(a)
    assert pystage.compile(lambda a: a[1:], fallback="error")(a).flags.writeable is False


# ---------------------------------------------------------------- calls


def test_one_function_of_arrays_and_of_records():
    """Arrays of all dtypes go through one compiled function, in any order."""

    def rest(a):
        return a[1:]

    staged = pystage.compile(rest, fallback="error")
    arguments = [
        np.arange(3.0),
        filled(FLAT),
        filled(PACKED),
        filled(ALIGNED),
        filled(SPACED),
        filled(FLAT, 5),
    ]
    for a in (*arguments, *arguments[::-1]):
        check(rest, a, staged=staged, runs=1)


def test_one_array_twice():
    def function(a, b):
        a["x"] += 1
        b["n"] = a["x"] * 10
        return a is b, b["x"].sum()

    staged = pystage.compile(function, fallback="error")
    a = filled(FLAT)
    for args in ((filled(FLAT), filled(FLAT)), (a, a), (filled(FLAT), filled(FLAT)), (a, a)):
        check(function, *args, staged=staged, runs=1)


def test_overlapping_records_are_refused():
    def function(a, b):
        a["x"] = b["n"]

    staged = pystage.compile(function, fallback="error")
    for part in (lambda a: a[:], lambda a: a[::-1], lambda a: a[["x", "n"]]):
        a = filled(FLAT)
        with pytest.raises(pystage.StagingError, match="PS806"):
            staged(a, part(a))
        assert np.array_equal(a, filled(FLAT))

    def of_a_field(a, x):
        a["n"] = 1
        x[0] = 5.0

    a = filled(FLAT)
    with pytest.raises(pystage.StagingError, match="PS806"):
        pystage.compile(of_a_field, fallback="error")(a, a["x"])


def test_overlapping_records_that_are_read():
    def function(a, b):
        return a["x"] + b["x"]

    a = filled(FLAT)
    check(function, a[1:], a[:-1])


CAPTURED = filled(FLAT)


def test_captured():
    def function(a):
        CAPTURED["x"][0] += a["n"].sum()
        a["x"] = CAPTURED["n"]
        return CAPTURED["x"], CAPTURED[1:]

    global CAPTURED
    staged = pystage.compile(function, fallback="error")
    for make in (filled(FLAT), filled(SPACED), filled(PACKED), filled(FLAT, 4)):
        for _ in range(2):
            CAPTURED = make.copy()
            plain = function(filled(FLAT)), CAPTURED
            CAPTURED = make.copy()
            result = staged(filled(FLAT))
            assert np.array_equal(result[0], plain[0][0])
            assert np.array_equal(result[1], plain[0][1])
            assert np.array_equal(CAPTURED, plain[1])
            assert np.shares_memory(result[1], CAPTURED)
    with pytest.raises(pystage.StagingError, match="PS806"):
        staged(CAPTURED)


@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
@pytest.mark.parametrize("fallback", ["lazy", "python"])
def test_what_is_refused_runs(fallback):
    def function(a):
        a["x"] *= 2
        return np.unique(a), str(a[0]), a[a["x"] > 3]

    staged = pystage.compile(function, fallback=fallback)
    for _ in range(3):
        mine, theirs = filled(FLAT), filled(FLAT)
        for x, y in zip(staged(mine), function(theirs)):
            assert np.array_equal(x, y)
        assert np.array_equal(mine, theirs)


def test_names_that_change():
    def function(a):
        return a["x"].sum()

    staged = pystage.compile(function, fallback="error")
    a = filled(np.dtype([("x", "f8"), ("n", "f8")]))
    assert staged(a) == a["x"].sum()
    a.dtype.names = ("n", "x")
    assert staged(a) == a["x"].sum()


# ---------------------------------------------------------------- derivatives


def test_gradients():
    def loss(a):
        for row in a:
            row["x"] *= 2
        return (a["x"] * a["v"].sum(axis=1)).sum()

    a = filled(PACKED)
    x, v = a["x"].copy(), a["v"].copy()
    found = pystage.grad(loss)(a)
    assert found.dtype == PACKED
    assert np.allclose(found["x"], 2 * v.sum(axis=1))
    assert np.allclose(found["v"], 2 * x[:, None])
    assert np.array_equal(found["n"], a["n"])
    assert np.array_equal(a["x"], 2 * x)


def test_gradients_through_records():
    def through(x):
        made = np.zeros(len(x), FLAT)
        made["x"] = x**2
        made[1]["x"] *= 3
        return made["x"].sum()

    assert np.array_equal(pystage.grad(through)(np.arange(3.0)), [0, 6, 4])


# ---------------------------------------------------------------- refusals

REFUSED = {
    "function": lambda a: np.flip(a),
    "sum": lambda a: a.sum(),
    "argsort that is not stable": lambda a: np.argsort(a, order="x"),
    "choice of other records": lambda a: np.where(a["x"] > 2, a, 0),
    "operator": lambda a: a + 1,
    "truth": lambda a: 1 if a[0] else 2,
    "comparison with a number": lambda a: a == 1,
    "in": lambda a: a[0] in a,
    "bytes": lambda a: a.tobytes(),
    "view": lambda a: a.view(np.uint8),
    "scalar for all fields": lambda a: a.__setitem__(0, np.float64(1.0)),
    "other fields": lambda a: np.copyto(a, a[["n", "x"]]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def function(a):
        return REFUSED[name](a)

    check(function, filled(FLAT), refused="PS606")


def test_text_is_refused():
    def function(a):
        return str(a[0])

    check(function, filled(FLAT), refused="PS401")


def test_a_zero_dimensional_index_is_refused():
    """NumPy gives a view there, of other arrays a copy."""

    def function(a):
        return a[np.array(1)]

    check(function, filled(FLAT), refused="PS203")


@pytest.mark.parametrize(
    "dtype",
    [
        [("x", "f8"), ("s", "U3")],
        [("x", ">f8")],
        [("p", [("x", "f8")], (2,))],
        [(("title", "x"), "f8")],
        {"names": ["x", "y"], "formats": ["f8", "f4"], "offsets": [0, 4]},
        np.dtype((np.record, [("x", "f8")])),
    ],
    ids=str,
)
def test_dtypes_that_are_refused(dtype):
    a = np.zeros(3, dtype)
    check(lambda a: a[1:], np.ones(3, FLAT))
    check(lambda a: a[1:], a, refused="PS802")


@of_flat_elements
def two_fields_of_an_element(a):
    r = a[1]
    r[["n", "x"]] = (4, 5)


@of_flat_elements
def one_field_of_an_element(a):
    r = a[1]
    r[["n"]] = 4


@of_flat_elements
def fields_of_an_element_that_is_not_named(a):
    a[1][["n"]] = (4,)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_programs(function, args, options):
    check(function, *args, **options)
