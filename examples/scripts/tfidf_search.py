"""A small search engine: tokens to ids, an inverted index, BM25 and TF-IDF cosine rankings of queries."""

import math
from collections import defaultdict

import numpy as np

STOP = {"the", "a", "of", "and"}


def tokenize(text):
    word = ""
    tokens = []
    for ch in text.lower():
        if ch.isalpha():
            word += ch
        elif word:
            if word not in STOP:
                tokens.append(word)
            word = ""
    if word and word not in STOP:
        tokens.append(word)
    return tokens


class Index:
    def __init__(self, docs):
        self.postings = defaultdict(dict)
        self.lengths = np.zeros(len(docs))
        for d, text in enumerate(docs):
            tokens = tokenize(text)
            self.lengths[d] = len(tokens)
            for t in tokens:
                self.postings[t][d] = self.postings[t].get(d, 0) + 1
        self.n = len(docs)
        self.avg = self.lengths.mean()
        self.norms = self._norms()

    def idf(self, term):
        df = len(self.postings.get(term, ()))
        return math.log(1 + (self.n - df + 0.5) / (df + 0.5))

    def _norms(self):
        sq = np.zeros(self.n)
        for term, docs in self.postings.items():
            w = self.idf(term)
            for d, tf in docs.items():
                sq[d] += ((1 + math.log(tf)) * w) ** 2
        return np.sqrt(sq)

    def bm25(self, query, k1=1.5, b=0.75):
        scores = np.zeros(self.n)
        for term in tokenize(query):
            w = self.idf(term)
            for d, tf in self.postings.get(term, {}).items():
                scores[d] += w * tf * (k1 + 1) / (tf + k1 * (1 - b + b * self.lengths[d] / self.avg))
        return scores

    def cosine(self, query):
        scores = np.zeros(self.n)
        for term in tokenize(query):
            w = self.idf(term)
            for d, tf in self.postings.get(term, {}).items():
                scores[d] += (1 + math.log(tf)) * w * w
        return np.divide(scores, self.norms, out=np.zeros(self.n), where=self.norms > 0)


def top(scores, k):
    order = np.argsort(-scores, kind="stable")[:k]
    return [(int(d), float(scores[d])) for d in order if scores[d] > 0]


def main(docs, queries, k=5):
    index = Index(docs)
    results = []
    overlap = 0
    for q in queries:
        a = top(index.bm25(q), k)
        b = top(index.cosine(q), k)
        overlap += len({d for d, _ in a} & {d for d, _ in b})
        results.append((a, b))
    return results, overlap / (k * len(queries)), len(index.postings)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    stems = ["".join(rng.choice(list("bcdfglmnprst"), 2)) + v + c for v in "aeiou" for c in "lnrstkm"]
    stems += ["the", "a", "of", "and"]
    docs = []
    for _ in range(120):
        topic = rng.permutation(len(stems))
        words = [stems[topic[min(int(i), len(stems) - 1)]] for i in rng.geometric(0.12, 60)]
        docs.append(" ".join(words).capitalize() + ".")
    queries = [" ".join(rng.choice(stems[:35], 3)) for _ in range(20)]
    return docs, queries


if __name__ == "__main__":
    results, overlap, terms = main(*inputs())
    print(terms, "terms; the two rankings share", overlap)
    print(results[0][0])
