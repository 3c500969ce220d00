"""Lists that each trip of a loop makes anew: they share memory, and none shows what the one before has held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.random.default_rng(3).integers(0, 1000, 1500)
SIZES = np.array([700, 3, 0, 1200, 1, 600, 2])
INPUTS = [(X, SIZES), (X, SIZES[:1]), (X, SIZES[:0]), (X, SIZES[::-1].copy())]


@cases.each(*INPUTS)
def what_lists_say_of_themselves(x, sizes):
    out = np.zeros((len(sizes), 8))
    for t in range(len(sizes)):
        found = [x[t]]
        for i in range(sizes[t]):
            if x[i] % 3:
                found.append(x[i])
        out[t, 0] = len(found)
        out[t, 1] = sum(found)
        out[t, 2] = max(found)
        out[t, 3] = min(found)
        out[t, 4] = found.count(7)
        out[t, 5] = 501 in found
        out[t, 6] = found[-1]
        out[t, 7] = np.mean(np.array(found))
    return out


@cases.each(*INPUTS)
def lists_that_are_kept(x, sizes):
    before = [x[0], x[1]]
    equal, longer = 0, 0
    for t in range(len(sizes)):
        found = [x[t], x[t] + 1]
        for i in range(sizes[t]):
            found.append(x[i])
        equal += found == before
        longer += len(found) > len(before)
        before = found
    return equal, longer, before


@cases.each(*INPUTS)
def several_lists_of_one_trip(x, sizes):
    total = 0.0
    for t in range(len(sizes)):
        odd, even = [x[t]], [x[t] * 2]
        for i in range(sizes[t]):
            if x[i] % 2:
                odd.append(x[i])
            else:
                even.append(x[i])
        if len(odd) > len(even):
            odd, even = even, odd
        odd.sort()
        both = odd + even[1:]
        both.reverse()
        total += both[0] + both[-1] * 3 + odd[len(odd) // 2] + len(both) + both.index(odd[0])
    return total


@cases.each(*INPUTS)
def lists_that_begin_empty(x, sizes):
    out = np.zeros((len(sizes), 4))
    for t in range(len(sizes)):
        found, pairs = [], [(0, 1.5)]
        for i in range(sizes[t]):
            if x[i] % 3:
                found.append(x[i])
                pairs.append((i, x[i] * 0.5))
        out[t, 0] = len(found)
        out[t, 1] = sum(found)
        out[t, 2] = 501 in found
        out[t, 3] = pairs[len(pairs) // 2][1] + pairs[0][1] + pairs[-1][0]
    return out


@cases.each(*INPUTS)
def lists_of_some_trips(x, sizes):
    last, total = -1, 0
    for t in range(len(sizes)):
        if sizes[t] % 2:
            stack = [(x[t], t)]
            i = 0
            while i < sizes[t]:
                stack.append((x[i], i))
                i += 1
            while len(stack) > sizes[t] // 2 and len(stack) > 0:
                value, place = stack.pop()
                total += value * place
            stack.append((t, t))
            last = stack[len(stack) // 3][1]
            if last == 5:
                continue
            if total < 0:
                break
    return last, total


@cases.each(*INPUTS)
def lists_in_loops_in_loops(x, sizes):
    out = []
    for t in range(len(sizes)):
        best = [float(x[t])]
        for j in range(2):
            found = [x[t] + 0.5]
            for i in range(j, sizes[t]):
                found.append(float(x[i]))
            if len(found) > len(best):
                best = found
            else:
                best.extend(found)
        out.append(sum(best))
    return out


@cases.each(*INPUTS)
def lists_of_lists_from_calls(x, sizes):
    history = []
    level, t = 1, 0
    while True:
        large, groups = sorted_out(x, level)
        history.append((level, len(large), len(groups)))
        if len(large) < 40 or t >= len(sizes):
            break
        level = max(level * 2, sizes[t] // 2, large[0][1] // 3)
        t += 1
    return large, groups, history


def sorted_out(x, level):
    large, groups = [], []
    for i, v in enumerate(x[:200]):
        if v > level:
            large.append((i, v))
        else:
            groups.append((v, [i, i + 1]))
    return large, groups


# ---------------------------------------------------------------- one of them is what the next trip goes on with

W = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 7.0, 6.0])


@dataclass
class State:
    x: float
    n: int


@cases.each((W,), (W[::-1],), (W[:1],), (W[:0],))
def best_of_objects(w):
    state = State(0.0, 0)
    for k in range(len(w)):
        options = [State(state.x + v, state.n + i) for i, v in enumerate(w) if v > k] or [State(1.0, 0)]
        state = min(options, key=lambda o: (abs(o.x - 10), o.n))
        state.n += 1
    return state.x, state.n


@cases.each((W,), (W[::-1],), (W[:1],), (W[:0],))
def best_of_lists(w):
    order, seen = [0, 1], []
    left = [int(i) for i in np.nonzero(w > 2)[0]]
    while left:
        m = left.pop()
        options = [order[:k] + [m] + order[k:] for k in range(len(order) + 1)]
        order = max(options, key=lambda o: sum(i * j for i, j in enumerate(o)) % 7)
        order[0] += 1
        seen.append(order[-1])
    return order, seen


@cases.each((W, 2), (W, 9), (W[:0], 2))
def sometimes_one_of_them(w, least):
    order = [0, 1]
    for i in range(len(w)):
        options = [order[:k] + [i] for k in range(3)]
        if w[i] > least:
            order = options[i % 2]
    order[0] = 77
    return order


@cases.each((W,), (W[::-1],), (W[:2],))
def best_of_all_trips(w):
    best = None
    for i in range(len(w)):
        options = [[j, i] for j in range(i + 1)]
        chosen = min(options, key=lambda o: -o[0])
        if best is None or chosen[0] + chosen[1] < w[i]:
            best = chosen
    return best


@cases.each((W,), (W[::-1],), (W[3:],), (W[3:5],))
def seen_beside_the_others(w):
    order = [0, 1]
    left = [int(i) for i in np.nonzero(w > 2)[0]]
    while left:
        m = left.pop()
        options = [order[:k] + [m] + order[k:] for k in range(len(order) + 1)]
        order = options[m % 2]
    order[0] = 77
    return order, options


@cases.each((np.log(np.arange(24.0).reshape(6, 4) % 7 + 1), 3), (np.zeros((0, 2)), 2))
def beam_search(scores, width):
    beams = [([], 0.0)]
    for t in range(scores.shape[0]):
        candidates = []
        for tokens, score in beams:
            for token in range(scores.shape[1]):
                candidates.append((tokens + [token], score + float(scores[t, token]) / (len(tokens) + 1)))
        candidates.sort(key=lambda each: each[1], reverse=True)
        beams = candidates[:width]
    return beams


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_the_memory_of_lists_is_filled_once():
    def heads(x, sizes):
        total = 0
        for t in range(len(sizes)):
            found = [x[t]]
            for i in range(sizes[t]):
                found.append(x[i])
            total += found[len(found) // 2]
        return total

    compiled = pystage.compile(heads, fallback="error")
    assert compiled(X, SIZES) == heads(X, SIZES)
    text = compiled.lower(X, SIZES).as_text()
    assert "stablehlo.pad" not in text
