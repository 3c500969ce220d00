"""Secondary structure of RNA with the most base pairs (Nussinov), traced back to the partner of each base."""

import numpy as np

PAIRS = {("A", "U"), ("U", "A"), ("G", "C"), ("C", "G"), ("G", "U"), ("U", "G")}


def fill(seq, min_loop):
    n = len(seq)
    N = np.zeros((n, n), dtype=int)
    for span in range(min_loop + 1, n):
        for i in range(n - span):
            j = i + span
            best = max(N[i + 1, j], N[i, j - 1])
            if (seq[i], seq[j]) in PAIRS:
                best = max(best, N[i + 1, j - 1] + 1)
            best = max(best, np.max(N[i, i + 1 : j] + N[i + 2 : j + 1, j]))
            N[i, j] = best
    return N


def traceback(N, seq, i, j, min_loop, pairs):
    if j - i <= min_loop:
        return
    if N[i, j] == N[i + 1, j]:
        traceback(N, seq, i + 1, j, min_loop, pairs)
    elif N[i, j] == N[i, j - 1]:
        traceback(N, seq, i, j - 1, min_loop, pairs)
    elif (seq[i], seq[j]) in PAIRS and N[i, j] == N[i + 1, j - 1] + 1:
        pairs.append((i, j))
        traceback(N, seq, i + 1, j - 1, min_loop, pairs)
    else:
        for k in range(i + 1, j):
            if N[i, j] == N[i, k] + N[k + 1, j]:
                traceback(N, seq, i, k, min_loop, pairs)
                traceback(N, seq, k + 1, j, min_loop, pairs)
                break


def dot_bracket(partner):
    return "".join("." if j < 0 else "(" if i < j else ")" for i, j in enumerate(partner))


def main(seq, min_loop=3):
    N = fill(seq, min_loop)
    pairs = []
    traceback(N, seq, 0, len(seq) - 1, min_loop, pairs)
    assert len(pairs) == N[0, -1]
    partner = np.full(len(seq), -1)
    for i, j in pairs:
        partner[i], partner[j] = j, i
    wobble = sum({seq[i], seq[j]} == {"G", "U"} for i, j in pairs)
    return int(N[0, -1]), partner, wobble


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return ("".join(rng.choice(list("ACGU"), 110)),)


if __name__ == "__main__":
    (seq,) = inputs()
    n, partner, wobble = main(seq)
    print(seq)
    print(dot_bracket(partner))
    print(n, "pairs,", wobble, "of them G-U")
