"""Suffix array by prefix doubling, Kasai's LCP array, the longest repeated substring, and pattern search by bisection."""

import numpy as np


def suffix_array(text):
    n = len(text)
    rank = np.array(text, dtype=np.int64)
    k = 1
    while True:
        second = np.full(n, -1, dtype=np.int64)
        second[: n - k] = rank[k:]
        sa = np.lexsort((second, rank))
        new = np.zeros(n, dtype=np.int64)
        differs = (rank[sa[1:]] != rank[sa[:-1]]) | (second[sa[1:]] != second[sa[:-1]])
        new[sa[1:]] = np.cumsum(differs)
        rank = new
        if rank[sa[-1]] == n - 1:
            return sa
        k *= 2


def lcp_array(text, sa):
    n = len(text)
    rank = np.empty(n, dtype=int)
    rank[sa] = np.arange(n)
    lcp = np.zeros(n, dtype=int)
    h = 0
    for i in range(n):
        if rank[i] == 0:
            h = 0
            continue
        j = sa[rank[i] - 1]
        while i + h < n and j + h < n and text[i + h] == text[j + h]:
            h += 1
        lcp[rank[i]] = h
        if h > 0:
            h -= 1
    return lcp


def compare(text, start, pattern):
    for k in range(len(pattern)):
        if start + k >= len(text):
            return -1
        if text[start + k] != pattern[k]:
            return -1 if text[start + k] < pattern[k] else 1
    return 0


def find(text, sa, pattern):
    lo, hi = 0, len(sa)
    while lo < hi:
        mid = (lo + hi) // 2
        if compare(text, sa[mid], pattern) < 0:
            lo = mid + 1
        else:
            hi = mid
    first = lo
    hi = len(sa)
    while lo < hi:
        mid = (lo + hi) // 2
        if compare(text, sa[mid], pattern) <= 0:
            lo = mid + 1
        else:
            hi = mid
    return np.sort(sa[first:lo])


def main(text, patterns):
    sa = suffix_array(text)
    lcp = lcp_array(text, sa)
    k = int(np.argmax(lcp))
    repeat = (int(sa[k]), int(lcp[k]))
    distinct = len(text) * (len(text) + 1) // 2 - int(lcp.sum())
    return sa, repeat, distinct, [find(text, sa, p) for p in patterns]


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    text = rng.integers(0, 4, 5000)
    text[3000:3060] = text[700:760]
    patterns = [text[i : i + n].copy() for i, n in zip(rng.integers(0, 4900, 30), rng.integers(3, 12, 30))]
    return text, patterns


if __name__ == "__main__":
    sa, repeat, distinct, found = main(*inputs())
    print("longest repeat at", repeat, "distinct substrings", distinct, "hits", [len(f) for f in found])
