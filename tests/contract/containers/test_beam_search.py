"""Beam search with end tokens: hypotheses that end move to a list of their own, and the search may stop early."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage import StagingError

cases = Cases()

END = 0
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(5, 5))
"""Scores of each token after each token. With `RARELY` the search reaches its last step."""
RARELY = TABLE - np.array([9.0, 0.0, 0.0, 0.0, 0.0])


@dataclass
class Hypothesis:
    tokens: list
    score: float
    done: bool = False


class Node:
    def __init__(self, token, score, parent=None):
        self.token, self.score, self.parent = token, score, parent


def log_softmax(x):
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


@cases.each((TABLE, 1, 3, 6), (RARELY, 1, 2, 4), (RARELY, 1, 2, 0))
def of_objects(table, start, width, steps):
    beams = [Hypothesis([start], 0.0)]
    finished = []
    for _ in range(steps):
        pool = []
        for hypothesis in beams:
            scores = log_softmax(table[hypothesis.tokens[-1]])
            for token in np.argsort(-scores, kind="stable")[:width]:
                tokens = [*hypothesis.tokens, int(token)]
                pool.append(Hypothesis(tokens, hypothesis.score + scores[token], token == END))
        pool.sort(key=lambda h: -h.score)
        beams = []
        for hypothesis in pool[:width]:
            if hypothesis.done:
                finished.append(hypothesis)
            else:
                beams.append(hypothesis)
        if not beams:
            break
    finished.extend(beams)
    finished.sort(key=lambda h: -h.score)
    return finished[0].tokens, finished[0].score


@cases.each((TABLE, 1, 3, 6), (RARELY, 1, 2, 4))
def of_lists(table, start, width, steps):
    beams = [[0.0, [start], False]]
    finished = []
    while len(finished) < width and steps > 0:
        steps -= 1
        pool = []
        for score, tokens, _ in beams:
            scores = log_softmax(table[tokens[-1]])
            for token in range(len(scores)):
                pool.append([score + float(scores[token]), [*tokens, token], token == END])
        pool.sort(key=lambda beam: beam[0], reverse=True)
        beams = []
        for beam in pool[: 2 * width]:
            if beam[2]:
                finished.append([beam[0] / len(beam[1]), beam[1]])
            elif len(beams) < width:
                beams.append(beam)
    return sorted(finished, key=lambda f: f[0], reverse=True)


@cases.each((jnp.asarray(TABLE), 1, 3, 6), (jnp.asarray(RARELY), 1, 2, 4), tolerance=1e-5)
def of_tuples_in_jax(table, start, width, steps):
    beams = [(0.0, [start], False)]
    finished = []
    for _ in range(steps):
        pool = []
        for score, tokens, _ in beams:
            top, index = jax.lax.top_k(jax.nn.log_softmax(table[tokens[-1]]), width)
            for k in range(width):
                token = int(index[k])
                pool.append((score + float(top[k]), [*tokens, token], token == END))
        pool.sort(key=lambda beam: beam[0], reverse=True)
        beams = []
        for beam in pool[:width]:
            (finished if beam[2] else beams).append(beam)
        if len(finished) >= width or not beams:
            break
    best = max(finished or beams, key=lambda beam: beam[0] / len(beam[1]))
    return best[1], best[0]


# ---------------------------------------------------------------- the parts by themselves


@cases.each((np.array([3.0, -1.0, 2.0, 5.0]), 3), (np.array([3.0, -1.0, 2.0, 5.0]), 0))
def attributes_of_two_kinds_of_numbers(xs, n):
    held = [Node(0, 0.0)]
    for i in range(n):
        held.append(Node(i, xs[i]))
    held.sort(key=lambda node: -node.score)
    return [-node.score for node in held], abs(held[n].score)


@cases.each((np.array([3, 1, -2, 5]), 4), (np.array([-3, -1, -2, 5]), 4), (np.array([3, 1, -2, 5]), 0))
def parts_of_objects_of_two_kinds(xs, n):
    beams = [[[1], False]]
    finished = []
    for i in range(n):
        pool = []
        for tokens, _ in beams:
            pool.append([[*tokens, i], xs[i] > 0])
        beams = []
        for beam in pool:
            if beam[1]:
                finished.append([beam[0]])
            else:
                beams.append(beam)
    return finished


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_beam_search(function, args, options):
    check(function, *args, **options)


def with_references_to_parents(xs, n):
    nodes = [Node(0, 0.0)]
    for i in range(n):
        longer = []
        for node in nodes:
            longer.append(Node(i, node.score + float(xs[i]), node))
        longer.sort(key=lambda node: node.score, reverse=True)
        nodes = longer[:2]
    return nodes[0].token


def test_a_refusal_names_what_holds_the_objects():
    with pytest.raises(StagingError, match="what the variable 'nodes' holds is of one type before"):
        pystage.compile(with_references_to_parents, fallback="error")(np.ones(4), 4)
