"""Lists whose first element is taken out in loops: what is in them afterwards, whatever reads them."""

from __future__ import annotations

import re

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


@cases(20)
def a_queue(n):
    queue, taken = [1, 2], []
    while queue and len(taken) < n:
        x = queue.pop(0)
        taken.append(x)
        queue.append(x * 2 % 17)
        if x % 3 == 0:
            queue.append(x + 1)
    return taken, queue


@cases(6)
def a_queue_of_tuples(n):
    queue, seen = [(0, 0)], 0
    while queue:
        r, s = queue.pop(0)
        seen += r * s
        if r < n:
            queue.append((r + 1, s + 2))
        if s < n and r % 2:
            queue.append((r + 2, s + 1))
    return seen, queue


@cases(20)
def items_of_a_queue(n):
    queue, t = list(range(n)), 0
    for i in range(n):
        x = queue.pop(0)
        queue.append(x + i)
        t += queue[0] * queue[-1] + len(queue) + queue[i % 5]
        queue[2] = 7
        queue[-3] = t % 10
        if i % 6 == 0:
            del queue[0]
    return t, queue


@cases(40)
def lists_behind_lists(n):
    out, pairs = [], []
    for i in range(n):
        few = [(i, j * 0.5) for j in range(i % 5)]
        pairs.extend(few)
        out += [j for _, j in few]
        if len(out) in (3, 20):
            out.extend(out)
            pairs = pairs + pairs[1:2] + few
    return out, pairs, [] + out, out + []


@cases(16)
def a_queue_that_methods_change(n):
    queue, t = list(range(n)), 0
    for i in range(n):
        queue.append(queue.pop(0) + i)
        if i % 4 == 0:
            queue.insert(1, i)
        if i % 5 == 0:
            queue.pop(1)
        if i % 7 == 0:
            queue.sort(key=lambda x: -x)
        t += (5 in queue) + max(queue) + sum(queue[1:3])
    return t, queue


@cases(12)
def a_queue_in_a_loop_over_it(n):
    queue, t = [], 0
    for i in range(n):
        queue.append(i)
        if i > 3:
            queue.pop(0)
        for y in queue:
            t = (t * 3 + y) % 1009
    return t


@cases(11)
def what_a_queue_becomes(n):
    queue = []
    for i in range(n):
        queue.append(i)
        if i > 3:
            queue.pop(0)
    return (
        [*queue, 1],
        queue * 2,
        queue[::-1],
        {*queue},
        queue == [1, 2],
        np.array(queue),
        queue.copy(),
        bool(queue),
        sorted(queue),
        tuple(queue),
        list(zip(queue, queue)),
    )


@cases([5, 6, 7, 8], 30)
@cases([5], 3)
def a_list_of_the_caller(queue, n):
    for i in range(n):
        queue.append(queue.pop(0) + i)
    return queue[0]


@cases(11)
@cases(12)
def a_queue_of_two_names(n):
    queue = list(range(n))
    other = [] if n % 2 else queue
    for i in range(n // 2):
        queue.pop(0)
        other.append(i)
    return queue, queue is other, other


@cases(30)
def queues_in_a_list(n):
    rows = [[i] for i in range(5)]
    for i in range(n):
        rows[i % 5].append(i)
        if len(rows[i % 5]) > 3:
            rows[i % 5].pop(0)
    return rows


@cases(9)
def a_queue_of_arrays(n):
    queue = [np.zeros(3)]
    for i in range(n):
        queue.append(np.full(3, i * 1.0))
        if len(queue) > 4:
            queue.pop(0)
    return queue[0], sum(queue)


@cases.each((3,), raises=IndexError)
def an_empty_queue(n):
    queue = [n]
    while n:
        queue.pop(0)
        n -= 1
    return queue


def rotated(n):
    queue, t = [0.5], 0.0
    for i in range(n):
        queue.append(i * 0.5)
    while queue:
        t = t * 0.5 + queue.pop(0)
    return t


def test_no_other_element_moves():
    text = pystage.compile(rotated).lower(2000).as_text()
    assert not re.search(r"stablehlo\.(pad|gather|concatenate)", text[text.index("while") :])


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_queues(function, args, options):
    check(function, *args, **options)
