"""Spelling correction: Damerau-Levenshtein distance to the words of a lexicon, indexed in a BK-tree."""

from collections import Counter

import numpy as np

LEXICON = """the of and to in is that it was for on are as with his they at be this from have or by one had not but
what all were when we there can an your which their said if do will each about how up out them then she many some so
these would other into has more her two like him see time could no make than first been its who now people my made
over did down only way find use may water long little very after words called just where most know get through back
much before go good new write our used me man too any day same right look think also around another came come work
three word must because does part even place well such here take why things help put years different away again off
went old number great tell men say small every found still between name should home big give air line set own under
read last never us left end along while might next sound below saw something thought both few those always looked
show large often together asked house world going want school important until form food keep children feet land side
without boy once animals life enough took sometimes four head above kind began almost live page got earth need far
hand high year mother light parts country father let night following picture being study second eyes soon times
story boys since white days ever paper hard near sentence better best across during today others however sure means
knew try told young miles sun ways thing whole hear example heard several change answer room sea against top turned
learn point city play toward five using himself usually"""
WORDS = LEXICON.split()


def distance(a, b):
    n, m = len(a), len(b)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1)
    return d[n][m]


class BKTree:
    def __init__(self, words):
        self.root = None
        for w in words:
            self.add(w)

    def add(self, word):
        if self.root is None:
            self.root = (word, {})
            return
        node = self.root
        while True:
            k = distance(word, node[0])
            if k == 0:
                return
            if k not in node[1]:
                node[1][k] = (word, {})
                return
            node = node[1][k]

    def search(self, word, radius):
        found = []
        todo = [self.root]
        visited = 0
        while todo:
            w, children = todo.pop()
            visited += 1
            k = distance(word, w)
            if k <= radius:
                found.append((k, w))
            todo.extend(c for dist, c in children.items() if abs(dist - k) <= radius)
        return sorted(found), visited


def main(lexicon, text, radius=2):
    frequency = Counter(text)
    tree = BKTree(lexicon)
    number = {w: i for i, w in enumerate(lexicon)}
    corrected = []
    fixes = {}
    visited = 0
    for word in text:
        if word in number:
            corrected.append(number[word])
            continue
        if word not in fixes:
            candidates, v = tree.search(word, radius)
            visited += v
            if candidates:
                _, best = min(candidates, key=lambda c: (c[0], -frequency[c[1]], c[1]))
                fixes[word] = number[best]
            else:
                fixes[word] = -1
        corrected.append(fixes[word])
    return corrected, fixes, visited


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    text = []
    for i in rng.integers(0, len(WORDS), 120):
        w = WORDS[i]
        if len(w) > 3 and rng.random() < 0.3:
            k = int(rng.integers(0, len(w) - 1))
            w = w[:k] + w[k + 1] + w[k] + w[k + 2 :] if rng.random() < 0.5 else w[:k] + w[k + 1 :]
        text.append(w)
    return WORDS, text


if __name__ == "__main__":
    words, text = inputs()
    corrected, fixes, visited = main(words, text)
    print(" ".join(words[i] if i >= 0 else w for i, w in zip(corrected, text)))
    print(len(fixes), "words corrected,", visited, "distances computed")
