"""What Python raises of a number, or an array, that is used as something else: the same class and the same text."""

import array
import bisect
import collections
import copy
import heapq
import operator

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

NUMBERS = [(2.5,), (np.float64(2.5),), (3,), (np.int32(3),)]


def keywords(**named):
    return named


@cases.each((2.5,), (np.float64(2.5),), raises=TypeError)
def a_length_of_a_range(x):
    return list(range(x))


@cases.each((2.5,), (np.float64(2.5),), (np.complex64(2.5),), raises=TypeError)
def repeated_by_it(x):
    return (1, 2) * x


@cases.each((2.5,), (np.float32(2.5),), raises=TypeError)
def a_list_repeated_by_it(x):
    return [x] * x


@cases.each((2.5,), (np.float32(2.5),), raises=TypeError)
def a_text_repeated_by_it(x):
    return "ab" * x


class Item:
    def __init__(self, x):
        self.x = x


@cases.each((2.5,), (1,), raises=TypeError)
def deletions_from_what_has_none(x):
    found = []
    for each in (Item(x), (x, x), str(x), x, None, range(2)):
        for key in (0, slice(0, 1), "a", 2.5):
            try:
                del each[key]
            except TypeError as error:
                found.append(str(error))
    raise TypeError(*found)


@cases.each(*NUMBERS, raises=TypeError)
def pushed_to_it(x):
    heapq.heappush(x, 1)


@cases.each(*NUMBERS, raises=TypeError)
def next_of_it(x):
    return next(x)


@cases.each(*NUMBERS, raises=TypeError)
def iterated(x):
    return [v for v in x]


@cases.each(*NUMBERS, raises=TypeError)
def unpacked(x):
    a, b = x
    return a


@cases.each(*NUMBERS, raises=TypeError)
def extended_by_it(x):
    values = []
    values.extend(x)
    return values


@cases.each(*NUMBERS, (np.array(2.5),), raises=TypeError)
def reversed_(x):
    return [v for v in reversed(x)]


@cases.each(([1, 2],), raises=TypeError)
def reversed_iterators(x):
    return list(reversed(zip(x, x)))


@cases.each(([1, 2],), raises=TypeError)
def reversed_sets(x):
    return list(reversed({1, 2}))


@cases.each(*NUMBERS, raises=TypeError)
def contains(x):
    return 1 in x


@cases.each(*NUMBERS, (np.ones(2),), raises=TypeError)
def called(x):
    return x()


@cases.each(*NUMBERS, raises=TypeError)
def a_mapping(x):
    return {"a": 1, **x}


@cases.each(*NUMBERS, raises=TypeError)
def keywords_of_it(x):
    return keywords(**x)


@cases.each((2.5,), (3,), raises=TypeError)
def an_item(x):
    return x[0]


@cases(np.float64(2.5), raises=IndexError)
def an_item_of_a_scalar(x):
    return (x * 2)[np.int8(1)]


@cases.each(*NUMBERS, raises=TypeError)
def a_store(x):
    x[0] = 1


@cases.each(*NUMBERS, raises=TypeError)
def a_deletion(x):
    del x[0]


@cases.each(*NUMBERS, raises=TypeError)
def a_length(x):
    return len(x)


def _each_filled(kind):
    arrays = [np.ones(shape) for shape in [(2,), (1,), (0,), (1, 1), ()]]
    return [(np.zeros(2, kind), value) for value in (*arrays, [1], [1, 2], (3,), [])]


@cases.each(*[case for kind in (float, int, bool, complex, "u1") for case in _each_filled(kind)])
def filled(x, value):
    try:
        x.fill(value)
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error), x
    return x


@cases.each(*[(np.ones(3, kind), np.array([2j])) for kind in (float, int, bool, complex, "u1", "f4")])
def a_complex_number_stored(x, z):
    try:
        x[0] = complex(z[0])
    except TypeError as error:
        return str(error)
    return x


@cases.each(*[(np.ones(3, kind), np.array([0.5, 1.5, 2.5])) for kind in (float, int, "f4")])
def put_where_it_is_masked(x, values):
    try:
        np.putmask(x, x > 0, values)
    except TypeError as error:
        return str(error)
    return "done"


@cases.each((1, 2.5), (0, 2.5), raises=TypeError)
def of_either_class(c, x):
    y = x if c else 3
    return next(y)


@cases.each((1, 2.5), (0, 2.5))
def caught(c, x):
    y = x if c else 3
    try:
        return y()
    except TypeError as error:
        return str(error)


class Job:
    def __init__(self, number):
        self.number = number


@cases.each((1,), (4,))
def none_beside_an_object(n):
    first, second = (n % 3, n, None), (1, 1, Job(n))
    try:
        return first < second, second >= first
    except TypeError as error:
        return str(error)


@cases(np.array([2, 1]))
def nothing_found(x):
    texts = []
    for k in range(5):
        try:
            if k == 0:
                max([])
            elif k == 1:
                min(x[:0])
            elif k == 2:
                [1, 2].index(7)
            elif k == 3:
                dict([(1, 2), (1, 2, 3)])
            else:
                dict([(1, 2), 3])
        except (ValueError, TypeError) as error:
            texts.append(str(error))
    return texts


@cases(np.array([2.0, 1.0]))
def what_is_used_as_something_else(x):
    def given(*args, **named):
        return len(args), len(named)

    texts, counted = [], {}
    for value in x:
        counted[int(value)] = 1
    for k in range(17):
        try:
            if k == 0:
                abs([x[0]])
            elif k == 8:
                given(**{1: x[0]})
            elif k == 9:
                collections.deque([x[0]])[1:]
            elif k == 10:
                range(collections.deque([x[0]]))
            elif k == 11:
                operator.concat([1], x)
            elif k == 15:
                collections.defaultdict(x[0])
            elif k == 13:
                copy.copy({1: x[0]}.keys())
            elif k == 14:
                format({1: x[0]}.values(), ".2f")
            elif k == 12:
                operator.concat(x[0], x[1])
            elif k == 1:
                round((x[0], 1), 1)
            elif k == 2:
                x[0] in 5  # noqa: B015
            elif k == 3:
                given(*x[0])
            elif k == 4:
                given(**[x[0]])
            elif k == 5:
                given(**counted)
            elif k == 6:
                x[0] @ x[1]
            elif k == 7:
                bisect.bisect(counted, x[0])
            else:
                range(3)[x[0]]
        except TypeError as error:
            texts.append(str(error))
    return texts


Pair = collections.namedtuple("Pair", "x y")


@cases.each(
    *[(number, 1.0) for number in (np.float32(2), np.float64(2), np.bool_(True), np.complex64(2), 2.0)]
)
def sequences_repeated_by_no_integer(n, x):
    texts = []
    for k in range(6):
        xs = [x, 1.0]
        try:
            if k == 0:
                n * Pair(x, 2.0)
            elif k == 1:
                (x, 1.0) * n
            elif k == 2:
                xs *= n
            elif k == 3:
                "ab" * n
            elif k == 4:
                n * xs
            else:
                n * array.array("d", [x])
        except TypeError as error:
            texts.append(str(error))
    return texts


@cases.each(*[(x,) for x in (np.arange(2.0), np.float32(2), np.array(2.5), np.array([True, False]))])
def lists_plus_arrays(x):
    xs, grown = [1.0, 2.0], []
    ys = xs
    xs += x
    for k in range(2):
        grown.append(k * 0.5)
    grown += x
    zs = collections.deque([1.0, 2.0])
    zs += x
    ys += (3.0,)
    return xs, ys, grown, zs, [1.0, 2.0] + x


@cases.each(((1.5, 2),), ([1.0],))
def made_by_operator(t):
    texts = []
    for k in range(8):
        try:
            if k == 0:
                operator.attrgetter(1)
            elif k == 1:
                operator.itemgetter(0)(t, t)
            elif k == 2:
                operator.itemgetter(0)()
            elif k == 3:
                operator.methodcaller(1)
            elif k == 4:
                operator.attrgetter("x")(obj=t)
            elif k == 5:
                operator.attrgetter("x")(t)
            elif k == 6:
                operator.itemgetter(7)(t)
            else:
                texts.append(operator.itemgetter(0)(t) * 2)
        except (TypeError, AttributeError, IndexError) as error:
            texts.append(str(error))
    return texts


@cases(1.0, raises=TypeError)
def sets_as_keys(x):
    return {1} in {1: x}


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_a_filter_of_a_tuple_of_computed_length_is_refused():
    def kept(x):
        return list(filter(None, tuple([v for v in x if v > 1.0])))

    check(kept, np.array([1.0, 2.0]), refused="PS401")


def test_a_copy_with_a_memo_is_refused():
    def copied(x):
        memo = {}
        return copy.deepcopy([x], memo), copy.deepcopy([x], None), len(memo)

    check(copied, np.array([1.0, 2.0]), refused="PS604")
