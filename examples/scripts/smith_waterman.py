"""Local alignment with affine gaps (Smith-Waterman, Gotoh) of a protein against a small database, best hits first."""

import numpy as np

ALPHABET = "ARNDCQEGHILKMFPSTWYV"
GROUPS = ["AGST", "ILMV", "FWY", "DENQ", "HKR", "C", "P"]
NEG = -(10**9)


def scoring_matrix():
    S = np.full((20, 20), -2)
    for g in GROUPS:
        idx = [ALPHABET.index(c) for c in g]
        S[np.ix_(idx, idx)] = 1
    np.fill_diagonal(S, 5)
    return S


def encode(seq):
    return [ALPHABET.index(c) for c in seq]


def align(a, b, S, gap_open, gap_extend):
    n, m = len(a), len(b)
    H = np.zeros((n + 1, m + 1), dtype=int)
    E = np.full((n + 1, m + 1), NEG)
    F = np.full((n + 1, m + 1), NEG)
    best, bi, bj = 0, 0, 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            E[i, j] = max(H[i, j - 1] - gap_open, E[i, j - 1] - gap_extend)
            F[i, j] = max(H[i - 1, j] - gap_open, F[i - 1, j] - gap_extend)
            H[i, j] = max(0, H[i - 1, j - 1] + S[a[i - 1], b[j - 1]], E[i, j], F[i, j])
            if H[i, j] > best:
                best, bi, bj = H[i, j], i, j

    pairs = []
    i, j = bi, bj
    while H[i, j] > 0:
        if H[i, j] == H[i - 1, j - 1] + S[a[i - 1], b[j - 1]]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif H[i, j] == E[i, j]:
            while E[i, j] == E[i, j - 1] - gap_extend and E[i, j] != H[i, j - 1] - gap_open:
                j -= 1
            j -= 1
        else:
            while F[i, j] == F[i - 1, j] - gap_extend and F[i, j] != H[i - 1, j] - gap_open:
                i -= 1
            i -= 1
    pairs.reverse()
    return best, pairs


def main(query, database, gap_open=8, gap_extend=1):
    S = scoring_matrix()
    q = encode(query)
    hits = []
    for k, target in enumerate(database):
        t = encode(target)
        score, pairs = align(q, t, S, gap_open, gap_extend)
        identical = sum(q[i] == t[j] for i, j in pairs)
        hits.append((score, k, len(pairs), identical))
    hits.sort(key=lambda h: (-h[0], h[1]))
    return hits


def inputs(seed=0):
    rng = np.random.default_rng(seed)

    def protein(n):
        return "".join(ALPHABET[i] for i in rng.integers(0, 20, n))

    query = protein(60)
    database = [protein(int(n)) for n in rng.integers(50, 90, 5)]
    mutated = "".join(c if rng.random() > 0.2 else ALPHABET[rng.integers(20)] for c in query[5:50])
    database[2] = protein(12) + mutated[:20] + protein(4) + mutated[20:] + protein(10)
    return query, database


if __name__ == "__main__":
    for score, k, length, identical in main(*inputs()):
        print(f"sequence {k}: score {score}, {identical}/{length} identical")
