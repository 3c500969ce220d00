"""Assembles short reads: counts k-mers, drops rare ones, builds the de Bruijn graph and walks its unbranched paths."""

from collections import defaultdict

import numpy as np


def count_kmers(reads, k):
    counts = defaultdict(int)
    for read in reads:
        for i in range(len(read) - k + 1):
            counts[read[i : i + k]] += 1
    return counts


def build_graph(kmers):
    out_edges = defaultdict(list)
    in_degree = defaultdict(int)
    for kmer in kmers:
        out_edges[kmer[:-1]].append(kmer[1:])
        in_degree[kmer[1:]] += 1
    return out_edges, in_degree


def contigs(out_edges, in_degree):
    def is_inner(v):
        return in_degree.get(v, 0) == 1 and len(out_edges.get(v, [])) == 1

    result = []
    used = set()
    for v in list(out_edges):
        if is_inner(v):
            continue
        for w in out_edges[v]:
            path = v + w[-1]
            while is_inner(w):
                used.add(w)
                w = out_edges[w][0]
                path += w[-1]
            result.append(path)
    # what is left are circles
    for v in list(out_edges):
        if is_inner(v) and v not in used:
            path, w = v, v
            while w not in used:
                used.add(w)
                w = out_edges[w][0]
                path += w[-1]
            result.append(path)
    return result


def n50(lengths):
    lengths = sorted(lengths, reverse=True)
    half = sum(lengths) / 2
    total = 0
    for x in lengths:
        total += x
        if total >= half:
            return x
    return 0


def main(reads, k, min_count):
    counts = count_kmers(reads, k)
    solid = sorted(kmer for kmer, c in counts.items() if c >= min_count)
    out_edges, in_degree = build_graph(solid)
    assembled = [c for c in contigs(out_edges, in_degree) if len(c) >= 2 * k]
    assembled.sort(key=lambda c: (-len(c), c))
    spectrum = np.bincount(list(counts.values()))
    lengths = [len(c) for c in assembled]
    gc = [(c.count("G") + c.count("C")) / len(c) for c in assembled]
    return lengths, gc, n50(lengths), len(solid), spectrum


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    genome = "".join(rng.choice(list("ACGT"), 3000))
    genome = genome[:1000] + genome[400:520] + genome[1000:]
    reads = []
    for start in rng.integers(0, len(genome) - 80, 900):
        read = list(genome[start : start + 80])
        for pos in np.flatnonzero(rng.random(80) < 0.005):
            read[pos] = "ACGT"[rng.integers(4)]
        reads.append("".join(read))
    return reads, 21, 3


if __name__ == "__main__":
    lengths, gc, half, solid, spectrum = main(*inputs())
    print(len(lengths), "contigs, N50", half, "from", solid, "solid k-mers")
