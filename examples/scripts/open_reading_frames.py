"""Open reading frames of a DNA string in all six frames, the proteins they code for, and codon usage."""

from collections import Counter

import numpy as np

BASES = "TCAG"
AMINO = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODON_TABLE = {
    a + b + c: AMINO[16 * i + 4 * j + k]
    for i, a in enumerate(BASES)
    for j, b in enumerate(BASES)
    for k, c in enumerate(BASES)
}
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(dna):
    return dna.translate(COMPLEMENT)[::-1]


def translate(dna):
    protein = []
    for i in range(0, len(dna) - 2, 3):
        aa = CODON_TABLE[dna[i : i + 3]]
        if aa == "*":
            break
        protein.append(aa)
    return "".join(protein)


def find_orfs(dna, min_codons):
    n = len(dna)
    orfs = []
    for strand, seq in ((1, dna), (-1, reverse_complement(dna))):
        for frame in range(3):
            start = None
            for i in range(frame, n - 2, 3):
                codon = seq[i : i + 3]
                if start is None:
                    if codon == "ATG":
                        start = i
                elif CODON_TABLE[codon] == "*":
                    if (i - start) // 3 >= min_codons:
                        a, b = start, i + 3
                        orfs.append((a, b, strand, frame) if strand == 1 else (n - b, n - a, strand, frame))
                    start = None
    return sorted(orfs)


def gc_content(dna, window):
    is_gc = np.array([c in "GC" for c in dna], dtype=float)
    return np.convolve(is_gc, np.ones(window) / window, mode="valid")[::window]


def main(dna, min_codons=20):
    orfs = find_orfs(dna, min_codons)
    proteins = []
    usage = Counter()
    for a, b, strand, _ in orfs:
        gene = dna[a:b] if strand == 1 else reverse_complement(dna[a:b])
        proteins.append(translate(gene))
        usage.update(gene[i : i + 3] for i in range(0, len(gene), 3))
    longest = max(proteins, key=len, default="")
    composition = Counter(longest)
    return (
        orfs,
        [len(p) for p in proteins],
        dict(composition),
        dict(usage.most_common(8)),
        gc_content(dna, 500),
    )


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return ("".join(rng.choice(list("ACGT"), 12000)),)


if __name__ == "__main__":
    orfs, lengths, composition, usage, gc = main(*inputs())
    print(len(orfs), "open reading frames; the longest protein has", max(lengths), "residues")
    print(composition)
    print(usage)
