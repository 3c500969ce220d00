"""Arrays that are elements of one list and go to another: which of them the caller may see as one object."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.random.default_rng(0).standard_normal((40, 5))


def kept(x):
    rows = []
    for row in x:
        if row[0] > -1:
            rows.append(row * 2)
    return rows


@cases(X)
def of_tuples(x):
    cells = []
    for i in range(len(x)):
        if x[i, 0] > -1:
            cells.append((i, x[i] * 2))
    return [cell[1] for cell in cells]


@cases(X)
def filtered(x):
    rows = kept(x)
    return [row for row in rows if row[1] > 0], len(rows)


@cases(X)
def filtered_in_a_function(x):
    def pick(rows, least):
        return [row for row in rows if row[1] > least]

    return pick(kept(x), 0)


@cases(X)
def an_element_beside_another_list(x):
    first, second = kept(x), kept(-x)
    return first[-1], second


@cases(X)
def beside_arrays_made_of_the_callers(x):
    rows = [x[i] for i in range(len(x)) if x[i, 0] > 0]
    return [row * 2 for row in rows]


@cases(X)
def stored_into_before_it_is_filtered(x):
    rows = kept(x)
    rows[0][0] = 7
    return [row for row in rows if row[0] > 1]


@cases(X, refused="PS504")
def an_element_of_the_callers_put_in_by_a_function(x):
    def grown(rows, y):
        rows.insert(0, y)
        return rows

    return grown(kept(x), x[0])


@cases(X, refused="PS504")
def one_array_put_in_two_lists_by_a_function(x):
    def grown(rows, y):
        rows.insert(0, y)
        return rows

    y = x[0] * 2
    return grown(kept(x), y), grown(kept(-x), y)


@cases(X, refused="PS504")
def filtered_beside_all(x):
    rows = kept(x)
    return [row for row in rows if row[1] > 0], rows


@cases(X, refused="PS504")
def filtered_twice(x):
    rows, found = kept(x), []
    for _ in range(2):
        for row in rows:
            if row[1] > 0:
                found.append(row)
    return found


@cases(X, refused="PS504")
def put_in_twice(x):
    found = []
    for row in kept(x):
        if row[1] > 0:
            found.append(row)
            found.append(row)
    return found


@cases(X, refused="PS504")
def put_in_by_an_inner_loop(x):
    found = []
    for row in kept(x):
        for k in range(int(x[0, 0] > 9) + 2):
            if row[k] > 0:
                found.append(row)
    return found


@cases(X, refused="PS504")
def a_list_beside_a_part_of_it(x):
    rows, found = kept(x), []
    for row, following in zip(rows, rows[1:]):
        found.append(row)
        if following[1] > 0:
            found.append(following)
    return found


@cases(X, refused="PS504")
def a_list_that_the_loop_changes(x):
    rows, found = kept(x), []
    for row in rows:
        found.append(row)
        if len(rows) < 60 and row[1] > 0:
            rows.insert(0, row * 2)
    return found


@cases(X)
def neighbours(x):
    rows, found = kept(x), []
    for row, following in zip(rows, rows[1:]):
        found.append(row + following)
    return found


@cases(X, refused="PS504")
def two_filters_of_one_list(x):
    def pick(rows, least):
        return [row for row in rows if row[1] > least]

    rows = kept(x)
    return pick(rows, 0), pick(rows, 0.5)


@cases(X, refused="PS504")
def two_elements_of_one_list(x):
    rows = kept(x)
    return rows[0], rows[-1]


@cases(X, refused="PS504")
def one_array_in_two_lists(x):
    y, first, second = x[0] * 2, kept(x), kept(-x)
    first.append(y)
    second.append(y)
    return first, second


@cases(X, refused="PS503")
def stored_into_an_element_of_both(x):
    rows = kept(x)
    found = [row for row in rows if row[1] > 0]
    found[0][0] = 7
    return rows


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
