"""`itertools.count`: an iterator that gives numbers without end, whoever asks, known or not."""

import copy
import heapq
import itertools

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([4.0, 2.0, 3.0, 2.0, 1.0])


@cases(X)
@cases(np.arange(100.0) % 7)
def ties_of_a_heap(x):
    ticket, waiting, served = itertools.count(), [], []
    for v in x:
        heapq.heappush(waiting, (v, next(ticket)))
        if v > 3:
            heapq.heappush(waiting, (v - 1, next(ticket)))
    while waiting:
        served.append(heapq.heappop(waiting)[1])
    return served, next(ticket)


class Clinic:
    def __init__(self, first):
        self.numbers = itertools.count(first, 10)
        self.queue = []

    def admit(self, severity):
        if severity > 2:
            self.queue.append((next(self.numbers), severity))


@cases(X, 5)
@cases(np.arange(200.0) % 5, -3)
def in_an_attribute(x, first):
    clinic = Clinic(first)
    for v in x:
        clinic.admit(v)
    return clinic.queue, next(clinic.numbers)


@cases(50.0)
@cases(-1.0)
@cases(1e6)
def a_loop_that_ends_by_itself(most):
    total = 0.0
    for i in itertools.count(1):
        total += i
        if total > most:
            break
    return total, i


@cases(X)
@cases(X[:0])
def beside_an_array(x):
    numbers = itertools.count(1, 2)
    pairs = list(zip(numbers, x))
    behind = itertools.count()
    return pairs, next(numbers), [n for _, n in zip(x, behind)]


@cases(np.arange(300.0), 7)
@cases(np.arange(300.0)[::-1], -7)
def beside_a_long_array(x, step):
    total = 0.0
    for n, v in zip(itertools.count(1, step), x):
        if v > 50:
            total += n * v
    return total


@cases(np.arange(300.0) % 7)
@cases(X)
def places_of(x):
    return [i for i, v in zip(itertools.count(), x) if v > 2]


@cases(X)
@cases(np.arange(100.0))
def one_count_twice(x):
    numbers, total = itertools.count(), 0.0
    for p, q, v in zip(numbers, numbers, x):
        total += p * v + 100 * q
    return total


@cases(X, True)
@cases(X, False)
def ones_from_a_truth(x, start):
    numbers = itertools.count(start)
    return next(numbers), next(numbers), next(itertools.count(start, 2)), x[0]


@cases(X)
def copied(x):
    numbers, values = itertools.count(), [x[0], x[1], x[2]]
    next(numbers)
    again, deep = copy.copy(numbers), copy.deepcopy(numbers)
    rest = iter(values)
    next(rest)
    other = copy.copy(rest)
    values[1] = 9.0
    return next(again), next(numbers), next(deep), next(rest), list(other), numbers is again


@cases(raises=TypeError)
def has_no_end():
    return reversed(itertools.count())


class Patient:
    def __init__(self, name):
        self.name = name


@cases(X)
@cases(np.arange(100.0) % 7)
def objects_behind_a_ticket(x):
    ticket, waiting = itertools.count(), []
    for v in x:
        heapq.heappush(waiting, (v, next(ticket), Patient(2 * v)))
    return [heapq.heappop(waiting)[2].name for _ in range(len(x))]


@cases(X, raises=TypeError)
@cases(X[:2])
@cases(np.arange(100.0) * 7 % 101)
@cases(np.arange(100.0) * 7 % 99, raises=TypeError)
def objects_have_no_order(x):
    waiting = []
    for v in x:
        heapq.heappush(waiting, (v, Patient(v)))
    return [heapq.heappop(waiting)[1].name for _ in range(len(x))]


@cases(X, 0.5, 0.1)
@cases(X, 1, 0.25)
@cases(X, True, -1)
@cases(X, np.float32(1.5), 2)
def of_other_numbers(x, start, step):
    numbers = itertools.count(start, step)
    return [next(numbers) for _ in range(12)], numbers.__next__(), x * next(numbers)


@cases(X)
def two_names(x):
    a = itertools.count()
    b = iter(a)
    return next(a), next(b), a is b, type(a) is itertools.count, isinstance(a, itertools.count)


@cases(raises=TypeError)
def of_a_string():
    return itertools.count("a")


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_counting(function, args, options):
    check(function, *args, **options)


def given_back(x):
    return x, itertools.count()


def test_it_is_not_given_back():
    check(given_back, X, refused="PS504")


def where_it_stands(x):
    numbers = itertools.count()
    for n in numbers:
        if x[n] < 3:
            break
    return next(numbers)


def beside_a_list_of_computed_length(x):
    numbers, large = itertools.count(), [v for v in x if v > 1.5]
    return list(zip(numbers, large)), next(numbers)


def beside_one_that_ends_first(x):
    numbers, rest = x.flat, 0.0
    for a, b in zip(numbers, x[:2]):
        rest += a * b
    return rest, next(numbers)


@pytest.mark.parametrize(
    "function", [where_it_stands, beside_a_list_of_computed_length, beside_one_that_ends_first]
)
def test_where_a_loop_has_left_it_is_refused(function):
    check(function, np.tile(X, 30), refused="PS606")


TICKET = itertools.count()


def of_the_module(x):
    return next(TICKET) + x[0]


class Office:
    def __init__(self):
        self.ticket = itertools.count()


def of_an_argument(office, x):
    return next(office.ticket) + x[0]


def test_one_made_outside_is_refused():
    check(of_the_module, X, refused="PS606")
    check(of_an_argument, Office(), X, refused="PS801")
