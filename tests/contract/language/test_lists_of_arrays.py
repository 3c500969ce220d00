"""Lists of arrays whose length only a run knows, and items of many arrays at places that only a run knows."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage import StagingError

cases = Cases()
X = np.array([1.0, 2.0, 0.5])
LENGTHS = [(X, n) for n in (0.0, 1.0, 2.5, 64.0, 65.0, 200.0)]


def multiples(x, n):
    """As many new arrays as the program computes."""
    out = []
    k = 0
    while k < n:
        out.append(x * k)
        k += 1
    return out


POINTS = np.random.default_rng(3).normal(size=(12, 2))


@cases.each((POINTS, 1), (POINTS, 2), (POINTS, 5))
def written_out_where_a_list_is_needed(x, count):
    """k-means++: the trips of the comprehension are known where those of the loop around are."""
    centres = [x[0]]
    while len(centres) < count:
        distances = np.min([np.sum((x - c) ** 2, axis=1) for c in centres], axis=0)
        centres.append(x[np.argmax(distances)])
    for _ in range(count - 1):
        distances = np.min([np.sum((x - c) ** 2, axis=1) for c in centres], axis=0)
        centres.append(x[np.argmax(distances)] + 1.0)
    return np.array(centres)


@cases.each(*LENGTHS)
def handed_back(x, n):
    return multiples(x, n)


@cases.each(*LENGTHS[1:])
def stacked(x, n):
    out = multiples(x, n)
    return (
        np.array(out),
        np.stack(out),
        np.stack(out, axis=-1),
        np.vstack(out),
        np.concatenate(out),
        np.mean(out, axis=0),
    )


@cases.each(*LENGTHS)
def iterated(x, n):
    total = np.zeros(3)
    for k, row in enumerate(multiples(x, n)):
        total += k * row
    for row, other in zip(multiples(x, n), multiples(x + 1, n)):
        total += row * other
    return total


@cases.each(*LENGTHS[1:])
def stored_through_elements(x, n):
    out = multiples(x, n)
    out[0][1] = 7.0
    out[-1][1:] += 1
    out[len(out) // 2] *= 2
    return np.array(out)


@cases.each(*LENGTHS[1:])
def read_at_computed_places(x, n):
    out = multiples(x, n)
    middle = out[len(out) // 2]
    return middle + out[-1] + out[int(n) - 1], len(out[1:])


@cases(X, 0.0, raises=IndexError)
@cases(X, 3.0, raises=IndexError)
def read_outside(x, n):
    return multiples(x, n)[int(x[0]) * 3].sum()


@cases.each(*LENGTHS[1:])
def replaced(x, n):
    out = multiples(x, n)
    out[int(n) // 2] = np.ones(3)
    out[0] = x - 1
    return out


@cases.each(*LENGTHS[2:])
def taken(x, n):
    out = multiples(x, n)
    last = out.pop()
    first = out.pop(0)
    return last - first + sum(row.sum() for row in out)


@cases.each(*LENGTHS)
def appended_under_a_condition(x, n):
    kept = []
    k = 0
    state = x
    while k < n:
        proposal = state * 0.9 + 0.1 * np.sin(k)
        if proposal.sum() < state.sum():
            state = proposal
        if k % 3 != 1:
            kept.append(state)
        k += 1
    total = np.zeros(3)
    for each in kept:
        total += each
    return total, state, len(kept)


@cases.each(*LENGTHS)
def beside_numbers(x, n):
    out = []
    k = 0
    while k < n:
        out.append((k, x * k))
        k += 1
    return out, sum(k * row[1] for k, row in out)


@cases.each(*LENGTHS)
def begun_with_one(x, n):
    out = [x + 1]
    while len(out) < n:
        out.append(out[-1] * 0.5)
    return np.array(out), len(out)


@cases.each(*LENGTHS)
def extended_and_inserted(x, n):
    out = []
    state = x
    while len(out) < n:
        state = state * 0.9 + 1
        out += [state.copy()]
        out.extend([state * 2, state * 3])
        out.insert(1, state - 1)
    return out


@cases.each(*LENGTHS)
def joined_with_another(x, n):
    first = multiples(x, n)
    second = []
    second.extend(first)
    total = np.zeros(3)
    for row in first + second:
        total += row
    return total


def add(out, row):
    out.append(row)


@cases.each(*LENGTHS)
def by_a_function(x, n):
    out = []
    k = 0
    while k < n:
        add(out, x + k)
        k += 1
    return out


@cases.each(*LENGTHS[1:])
def ordered(x, n):
    out = multiples(np.sin(x), n)
    best = min(out, key=lambda row: (row[0] - 2.0) ** 2)
    rows = sorted(out, key=lambda row: -row[1])
    return best[0] + rows[0][2]


@cases.each((X, 2.0), (X, 40.0))
def in_a_list_of_a_loop(x, n):
    total = 0.0
    for j in range(3):
        inner = []
        while len(inner) < n + j:
            inner.append(x * len(inner))
        total += inner[-1].sum() + len(inner)
    return total


@cases.each((0.0,), (17.9,), (-20.0,))
@cases.each((20.0,), (-21.0,), raises=IndexError)
def of_many_arrays(at):
    rows = [np.full(3, float(k)) for k in range(20)]
    return rows[int(at)] * 2


MASKS = [(np.random.default_rng(n).random((n, n)) < 0.3,) for n in (1, 5, 20, 80)]


@cases.each(*MASKS)
def sizes_that_only_a_run_knows(mask):
    found = [np.flatnonzero(row) for row in mask]
    total = 0
    for k in np.arange(len(mask))[::-1]:
        if len(found[k]):
            total += found[k].sum() * (k + 1) + len(found[k])
    return total


@cases.each(*MASKS, (np.zeros((70, 3), bool),))
def handed_back_in_their_sizes(mask):
    out, beside = [], []
    for row in mask:
        places = np.flatnonzero(row)
        if len(places) > 1:
            out.append(places)
            beside.append({"places": places * 2, "count": len(places)})
    return out, beside, sum(each["places"].sum() for each in beside)


@cases(np.arange(10.0), np.array([3, 0, 5, 1] * 20))
def views(x, ends):
    out = []
    for k in ends:
        if k > 1:
            y = x * k
            out.append(y[:3])
    return out


SIGNS = [(np.ones((2, 3)), np.sin(np.arange(float(n)))) for n in (1, 3, 20, 70)]


@cases.each(*SIGNS)
def a_matrix_and_rows_below_it(a, x):
    rows, sides = [a], [np.zeros(2)]
    for k in range(len(x)):
        if x[k] > 0:
            row = np.zeros((1, 3))
            row[0, k % 3] = x[k]
            rows.append(row)
            sides.append(x[k : k + 1])
    return np.vstack(rows), np.concatenate(sides), len(rows)


@cases(X)
def sorted_by_what_is_computed(x):
    found = []
    for k in range(6):
        y = x * np.cos(k)
        found.append(((y**2).sum(), k * 0.5, y))
    found.sort(key=lambda each: each[0])
    mean = sum(w * each[2] for w, each in zip([0.5, 0.3, 0.2], found[:3]))
    rows = [x * np.sin(k) for k in range(5)]
    order = sorted(rows, key=lambda row: row[0], reverse=True)
    least = min(found, key=lambda each: each[1])
    return mean, [each[1] for each in found], [row.sum() for row in order], order[0], least[2] * 2


@cases(X)
def handed_back_sorted(x):
    return sorted([x * k for k in (3, 1, 2)], key=lambda row: row[1])


@cases(X)
def stored_into_a_sorted_list(x):
    rows = [x * np.sin(k) for k in range(5)]
    rows.sort(key=lambda row: row[0])
    rows[0][0] = 77.0
    return rows


@cases(X)
def sorted_pairs_that_change(x):
    pairs = [(float(np.cos(k) * x[0]), x * k) for k in range(6)]
    pairs.sort(key=lambda each: -each[0])
    pairs.pop()
    pairs.insert(1, (0.0, x + 1))
    return pairs


@cases(X)
def sorted_and_cut_in_each_trip(x):
    found = [(float(np.cos(k) * x[0]), x * k) for k in range(6)]
    for k in range(5):
        found = sorted(found, key=lambda each: each[0])[:3]
        found = found + [(each[0] * 0.9 + k, each[1] + 1) for each in found]
    return found


@cases(X)
def sorted_in_each_trip(x):
    for _ in range(30):
        near = [(float((x - k)[0]), x - k) for k in range(8)]
        near = sorted(near, key=lambda each: abs(each[0]))
        x = x + 0.1 * sum(each[1] for each in near[:4]) / 4
    return x


@cases.each(*SIGNS[2:])
def of_other_shapes_in_either_arm(a, x):
    out, pairs = [], [(a * 2, 0)]
    for v in x:
        if v > 0.5:
            out.append(a * v)
        else:
            out.append(np.full((3, 1), v))
        if v > 0:
            pairs.append((a[:1] * v, len(out)))
    return out, pairs, sum(m.sum() for m in out), [m.shape for m in out]


@cases.each(*[(x, k) for _, x in SIGNS for k in (0, -1)])
def lengths_of_known_parts(x, k):
    parts = [x[: n % 5] for n in range(30)]
    parts.append(np.ones(2))
    return parts[k], max(parts, key=len).sum(), len(parts[k])


TREE = np.array([1.0, 2.0, 3.0, -2.0, 2.0, 4.0, -1.0, 3.0])


@cases.each((TREE, 2), (TREE, 0), (TREE[:1], 3), (-TREE, 4))
def a_stack_of_parts_and_sides(x, n):
    stack = [(np.arange(len(x)), 0, None)]
    found = []
    while stack:
        part, depth, side = stack.pop()
        if side == "left":
            found.append(len(part))
        elif side == "right":
            found.append(-len(part))
        if depth == n or len(part) < 2:
            continue
        goes_left = x[part] > x[part].mean()
        stack.append((part[~goes_left], depth + 1, "right"))
        stack.append((part[goes_left], depth + 1, "left"))
    return found


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def loss(x: np.ndarray, n: float) -> float:
        out = [x]
        while len(out) < n:
            out.append(np.sin(out[-1]) * x)
        return sum(row.sum() for row in out)

    step = 1e-6
    for n in (1.0, 2.0, 70.0):
        numeric = [(loss(X + step * e, n) - loss(X - step * e, n)) / (2 * step) for e in np.eye(3)]
        np.testing.assert_allclose(pystage.grad(loss)(X, n), numeric, rtol=1e-5)


def test_gradient_of_arrays_of_several_shapes() -> None:
    def loss(a: np.ndarray, x: np.ndarray) -> float:
        rows = [a]
        for v in x:
            if v > 0:
                rows.append(a[:1] * v)
        return sum((k + 1) * (row**2).sum() for k, row in enumerate(rows))

    step = 1e-6
    for a, x in SIGNS[:3]:
        found = pystage.grad(loss)(a, x)
        for at in np.ndindex(a.shape):
            e = np.zeros_like(a)
            e[at] = step
            numeric = (loss(a + e, x) - loss(a - e, x)) / (2 * step)
            np.testing.assert_allclose(found[at], numeric, rtol=1e-5)


def test_arrays_whose_common_bounds_would_be_mostly_empty_are_refused() -> None:
    def program(x):
        out = [np.zeros((1, 5000))]
        if x[0] > 0:
            out.append(np.zeros((5000, 1)))
        return [m.sum() for m in out]

    with pytest.raises(StagingError, match="PS301"):
        pystage.compile(program, fallback="error")(X)


def test_the_program_is_as_large_for_many_trips() -> None:
    def program(x, trips):
        out = []
        for k in range(trips):
            if x[0] < k:
                out.append(x * k)
        return np.array(out).sum(axis=0)

    sizes = [len(str(pystage.code_hlo(program, X, n)).splitlines()) for n in (500, 20_000)]
    assert sizes[0] == sizes[1]


def stored_through_another_name(x, n):
    row, out = x * 2, []
    while row[0] < n:
        row[0] += 1
        out.append(row)
    return len(out)


def stored_by_a_function(x, n):
    out = []
    while len(out) < n:
        row = x + len(out)
        add(out, row)
        row += 1
    return np.array(out)


def one_of_many_stored_into(x, n):
    rows = [x * k for k in range(20)]
    found = rows[int(n)]
    rows[3][0] = 5.0
    return found


def stored_into_after_sorting(x, n):
    rows = [x * np.sin(k) for k in range(5)]
    order = sorted(rows, key=lambda row: row[0])
    rows[2][1] = n
    return [row[1] for row in order]


def stored_through_the_sorted(x, n):
    rows = [x * np.sin(k) for k in range(5)]
    sorted(rows, key=lambda row: row[0])[0][1] = n
    return rows


@pytest.mark.parametrize(
    "program",
    [
        stored_through_another_name,
        stored_by_a_function,
        one_of_many_stored_into,
        stored_into_after_sorting,
        stored_through_the_sorted,
    ],
)
def test_what_a_copy_would_not_see_is_refused(program) -> None:
    with pytest.raises(StagingError, match="PS503"):
        pystage.compile(program, fallback="error")(X, 5.0)


def one_twice(x, n):
    row, out = x, []
    while len(out) < n:
        if len(out) == 3:
            row = x + 1
        out.append(row)
    return out


def beside_the_list(x, n):
    out, row = [], x
    while len(out) < n:
        row = x * len(out)
        out.append(row)
    return out, row


def of_the_caller(x, n):
    out = []
    while len(out) < n:
        out.append(x)
    return out


def an_element_beside_its_list(x, n):
    out = multiples(x, n)
    return out, out[0]


def a_slice_beside_its_list(x, n):
    out = multiples(x, n)
    return out, out[1:]


def in_two_lists(x, n):
    first, second = multiples(x, n), []
    second.extend(first)
    return first, second


def sorted_beside_its_list(x, n):
    rows = [x * np.sin(k * n) for k in range(5)]
    return rows[1], sorted(rows, key=lambda row: row[0])


def sorted_with_one_twice(x, n):
    row = x * n
    return sorted([row, x * 3, row], key=lambda each: each[0])


def one_of_the_callers(rows, n):
    return rows[int(n)]


@pytest.mark.parametrize(
    "program",
    [
        one_twice,
        beside_the_list,
        of_the_caller,
        an_element_beside_its_list,
        a_slice_beside_its_list,
        in_two_lists,
        sorted_beside_its_list,
        sorted_with_one_twice,
    ],
)
def test_what_would_come_back_as_two_objects_is_refused(program) -> None:
    with pytest.raises(StagingError, match="PS504"):
        pystage.compile(program, fallback="error")(X, 5.0)


def test_an_array_of_the_callers_list_does_not_come_back_as_another() -> None:
    with pytest.raises(StagingError, match="PS504"):
        pystage.compile(one_of_the_callers, fallback="error")([X + k for k in range(20)], 5.0)


def appended_to_the_callers(rows, n):
    if n > 3:
        rows.append(rows[0] * n)


def appended_before_a_raise(rows, n):
    for k in range(int(n)):
        rows.append(rows[0] * k)
    if n > 3:
        raise ValueError(n)
    rows.clear()


@pytest.mark.parametrize("program", [appended_to_the_callers, appended_before_a_raise])
def test_the_callers_list_does_not_get_copies_of_the_callers_arrays(program) -> None:
    with pytest.raises(StagingError, match="PS504"):
        pystage.compile(program, fallback="error")([X, X + 1], 5.0)


def is_the_same(x, n):
    out, row = [], x
    while len(out) < n:
        row = x * len(out)
        out.append(row)
    return out[-1] is row


def test_which_object_an_element_is_nothing_tells() -> None:
    with pytest.raises(StagingError, match="PS210"):
        pystage.compile(is_the_same, fallback="error")(X, 5.0)


def as_many_as_the_data_say(x, tolerance):
    centres = [x[0]]
    while True:
        distances = np.min([np.sum((x - c) ** 2, axis=1) for c in centres], axis=0)
        if np.max(distances) < tolerance:
            return np.array(centres)
        centres.append(x[np.argmax(distances)])


def test_a_comprehension_over_a_list_whose_length_the_data_decide() -> None:
    with pytest.raises(StagingError, match="PS401") as error:
        pystage.compile(as_many_as_the_data_say, fallback="error")(POINTS, 1.0)
    assert "running result" in error.value.diagnostics[0].advice
