"""Best play of one turn of Yahtzee for each category: expected score over three rolls, and which dice to keep."""

import itertools
import math
from functools import cache

import numpy as np

CATEGORIES = ["sixes", "three_kind", "full_house", "large_straight", "yahtzee", "chance"]


def score(dice, category):
    counts = [dice.count(v) for v in range(1, 7)]
    if category == "sixes":
        return 6 * counts[5]
    if category == "three_kind":
        return sum(dice) if max(counts) >= 3 else 0
    if category == "full_house":
        return 25 if sorted(counts)[-2:] == [2, 3] else 0
    if category == "large_straight":
        return 40 if dice in ((1, 2, 3, 4, 5), (2, 3, 4, 5, 6)) else 0
    if category == "yahtzee":
        return 50 if max(counts) == 5 else 0
    return sum(dice)


@cache
def rolls(n):
    """Sorted outcomes of n dice with their probabilities."""
    out = []
    for dice in itertools.combinations_with_replacement(range(1, 7), n):
        ways = math.factorial(n)
        for v in set(dice):
            ways //= math.factorial(dice.count(v))
        out.append((dice, ways / 6**n))
    return out


def subsets(dice):
    return sorted({keep for n in range(6) for keep in itertools.combinations(dice, n)})


def solve(category):
    value = {dice: float(score(dice, category)) for dice, _ in rolls(5)}
    first_choice = {}
    for _ in range(2):
        kept = {}
        new = {}
        for dice in value:
            best, best_keep = -1.0, None
            for keep in subsets(dice):
                if keep not in kept:
                    kept[keep] = sum(p * value[tuple(sorted(keep + r))] for r, p in rolls(5 - len(keep)))
                if kept[keep] > best + 1e-12:
                    best, best_keep = kept[keep], keep
            new[dice] = best
            first_choice[dice] = best_keep
        value = new
    return sum(p * value[dice] for dice, p in rolls(5)), first_choice


def main(hands):
    expected = []
    advice = []
    for category in CATEGORIES:
        e, choice = solve(category)
        expected.append(e)
        advice.append([choice[tuple(sorted(int(v) for v in hand))] for hand in hands])
    return np.array(expected), advice


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.integers(1, 7, (6, 5)),)


if __name__ == "__main__":
    (hands,) = inputs()
    expected, advice = main(hands)
    for name, e, a in zip(CATEGORIES, expected, advice):
        print(f"{name:15s} {e:7.4f}  of {np.sort(hands[0])} keep {a[0]}")
