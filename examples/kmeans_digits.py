"""k-means with restarts on scikit-learn's handwritten digits, as one HLO program.

In: the points, and for each restart the points to start from. Out: for the best restart the labels, their
inertia (the sum of squared distances to the centres) and how many rounds it took. It is written as one
writes it in NumPy, with loops over points and centres, a stop that depends on the data, and stores into
arrays; the staged program does all of it, restarts included.

Run it: `python examples/kmeans_digits.py`
"""

from __future__ import annotations

import re
import time
from collections import Counter

import numpy as np
from sklearn.datasets import load_digits

import pystage


def assign(points, centres, labels):
    """Stores in `labels` the nearest centre of each point.

    Returns how many labels changed, and the inertia.
    """
    changed = 0
    inertia = 0.0
    for i in range(len(points)):
        distances = ((centres - points[i]) ** 2).sum(axis=1)
        nearest = np.argmin(distances)
        if nearest != labels[i]:
            changed += 1
            labels[i] = nearest
        inertia += distances[nearest]
    return changed, inertia


def move(points, labels, centres):
    """Moves each centre to the mean of its points; a centre without points stays where it is."""
    sums = np.zeros(centres.shape)
    counts = np.zeros(len(centres))
    for i in range(len(points)):
        sums[labels[i]] += points[i]
        counts[labels[i]] += 1.0
    for j in range(len(centres)):
        if counts[j] > 0.0:
            centres[j] = sums[j] / counts[j]


def kmeans(points, starts):
    """Lloyd's algorithm, once from each of `starts`, until no point changes its centre.

    `points`: float64 `[n, d]`; `starts`: float64 `[restarts, k, d]`. Returns of the restart with the least
    inertia the labels (int64 `[n]`), the inertia and the number of rounds.
    """
    best_labels = np.zeros(len(points), dtype=np.int64)
    best_inertia = np.inf
    best_rounds = 0
    for r in range(len(starts)):
        centres = starts[r].copy()
        labels = np.full(len(points), -1)
        inertia = 0.0
        changed = 1
        rounds = 0
        while changed > 0:
            changed, inertia = assign(points, centres, labels)
            move(points, labels, centres)
            rounds += 1
        # Restarts may end in one clustering, numbered differently: to win, be better by more than rounding.
        if inertia < best_inertia * (1.0 - 1e-9):
            best_labels = labels.copy()
            best_inertia = inertia
            best_rounds = rounds
    return best_labels, float(best_inertia), best_rounds


def choose_starts(points, restarts, k, seed=0):
    """For each restart `k` different points: `[restarts, k, d]`."""
    rng = np.random.default_rng(seed)
    return np.stack([points[rng.choice(len(points), size=k, replace=False)] for _ in range(restarts)])


def few_digits():
    """The first 60 digits and two restarts of 4 centres."""
    points = load_digits().data[:60]
    return points, choose_starts(points, restarts=2, k=4)


PROGRAMS = [(kmeans, few_digits)]
"""What the tests run: a function, and what makes its arguments."""


def instructions_by_line(text, file):
    """How many instructions of an HLO module (as text) come from each line of `file`.

    XLA gives each instruction the index of a stack frame; tables at the head of the text say which place
    in which file that is.
    """
    files = dict(re.findall(r'^(\d+) "(.*)"$', text.partition("FunctionNames")[0], re.MULTILINE))
    locations = re.findall(r"^(\d+) \{file_name_id=(\d+) .*?\bline=(\d+)", text, re.MULTILINE)
    places = {index: (files.get(file_index), int(line)) for index, file_index, line in locations}
    frames = dict(re.findall(r"^(\d+) \{file_location_id=(\d+)", text, re.MULTILINE))
    lines: Counter[int] = Counter()
    for frame in re.findall(r"stack_frame_id=(\d+)", text):
        name, line = places.get(frames.get(frame), (None, 0))
        if name == file:
            lines[line] += 1
    return lines


def timed(function, *arguments):
    """The result of a call and how long it took."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def main() -> None:
    """Clusters the digits plain and staged, and shows what the program is made of."""
    digits = load_digits()
    points, k = digits.data, 10
    starts = choose_starts(points, restarts=10, k=k)
    print(f"{points.shape[0]} digits of {points.shape[1]} pixels, {k} centres, {len(starts)} restarts")

    staged = pystage.compile(kmeans, tier="compiled")
    lowered = staged.lower(points, starts)
    compiled, compile_seconds = timed(lowered.compile)
    staged(points, starts)  # the first call compiles too
    (labels, inertia, rounds), staged_seconds = timed(staged, points, starts)
    (plain_labels, plain_inertia, plain_rounds), plain_seconds = timed(kmeans, points, starts)

    print(f"plain NumPy: inertia {plain_inertia:.4f} after {plain_rounds} rounds, {plain_seconds:.2f} s")
    print(f"staged:      inertia {inertia:.4f} after {rounds} rounds, {staged_seconds:.3f} s")
    print(
        f"             {plain_seconds / staged_seconds:.0f}× as fast; XLA compiled it in {compile_seconds:.2f} s"
    )
    print(f"same labels: {bool((labels == plain_labels).all())}")
    majority = sum(np.bincount(digits.target[labels == j]).max() for j in range(k) if (labels == j).any())
    print(f"digits in a cluster of their own kind: {majority / len(points):.0%}")
    before, after = lowered.instruction_counts().total, compiled.instruction_counts().total
    print(f"size of the program: {before} HLO instructions, {after} after XLA's optimisation")

    print("\nwhere the source lines went (optimised HLO instructions of each):")
    lines = instructions_by_line(compiled.as_text(), __file__)
    with open(__file__, encoding="utf-8") as source:
        for number, text in enumerate(source, start=1):
            if lines[number]:
                print(f"{lines[number]:5}  {number:4} | {text.rstrip()}")


if __name__ == "__main__":
    main()
