"""Sizes for names, and names for the sizes in what the compiler says."""

from __future__ import annotations

from itertools import islice

import pytest

from pystage.cli.checker.naming import Naming, first, primes, second
from pystage.compiler.diagnostics.codes_types import ShapesDoNotBroadcast
from pystage.compiler.diagnostics.diagnostic import Note

A = {"n": 7, "m": 11, "k": 13}
B = {"n": 29, "m": 23, "k": 19}


def test_primes_avoid_the_integers_of_a_program() -> None:
    assert list(islice(primes(set()), 6)) == [7, 11, 13, 17, 19, 23]
    assert list(islice(primes({7}, {13, 784}), 4)) == [11, 17, 19, 23]


def test_sizes_stay_small_where_a_program_mentions_every_number() -> None:
    mentioned = set(range(1000))
    found = list(islice(primes({11}, mentioned), 30))
    assert found[:3] == [7, 13, 17]
    assert len(set(found)) == 30 and max(found[:20]) < 110


def test_two_assignments_have_no_size_in_common() -> None:
    a = first({"batch": 17}, {11})
    assert [a[name] for name in "nmk"] == [7, 13, 19]
    b = second({"batch": 17}, {11}, a)
    assert [b[name] for name in "nmkl"] == [31, 29, 23, 37]
    assert a["batch"] == b["batch"] == 17
    differences = [a[name] - b[name] for name in "nmk"]
    assert len(set(differences)) == 3


TEXTS = {
    "names": ("(7, 784) and (11, 784)", "(29, 784) and (23, 784)", "(n, 784) and (m, 784)"),
    "types": ("f32[7,11] and s64[]", "f32[29,23] and s64[]", "f32[n,m] and s64[]"),
    "a number that is a size": ("axis 7 of (7,)", "axis 7 of (29,)", "axis 7 of (n,)"),
    "multiples": ("14 and 784 and 5488", "58 and 784 and 22736", "2*n and 784 and 784*n"),
    "products": ("77 1001 49 154", "667 12673 841 1334", "n*m n*m*k n*n 2*n*m"),
    "sums": ("18 8 5 791", "52 30 27 813", "n+m n+1 n-2 n+784"),
    "a half": ("3", "14", "n//2"),
    "no numbers": ("axis", "axis", "axis"),
    "decimals": ("0.7 of 7", "0.7 of 29", "0.7 of n"),
    "identifiers": ("x7 and 7", "x7 and 29", "x7 and n"),
    "NumPy's names": (
        "(size 7, with gufunc signature (n?,k),(k,m?)->(n?,m?) 11)",
        "(size 29, with gufunc signature (n?,k),(k,m?)->(n?,m?) 23)",
        "(size n m)",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str) -> None:
    a, b, named = TEXTS[name]
    names = Naming(A, B, set())
    assert names.text(a, b) == named
    assert not names.unnamed


def test_sizes_that_are_no_name() -> None:
    names = Naming(A, B, set())
    assert (names.text("1234", "98"), names.unnamed) == ("1234", True)


def test_a_text_of_one_assignment_alone() -> None:
    names = Naming(A, B, set())
    assert names.text("(7, 14)", None) == "(n, 14)"
    assert names.text("7 words", "other 7 words") == "n words"


def test_given_sizes_stay_numbers() -> None:
    names = Naming({"n": 7, "m": 4}, {"n": 11, "m": 4}, {"m"})
    assert names.text("(7, 4)", "(11, 4)") == "(n, 4)"
    assert (names.used, names.literals) == ({"n"}, {4})


def test_a_diagnostic() -> None:
    def made(sizes: dict[str, int]) -> ShapesDoNotBroadcast:
        note = Note(f"it has {sizes['m']} rows")
        return ShapesDoNotBroadcast(operation="add", shapes=f"({sizes['n']},)", notes=(note,))

    named = Naming(A, B, set()).diagnostic(made(A), made(B))
    assert named.headline == "operands of add have shapes that do not broadcast: (n,)"
    assert named.notes[0].text == "it has m rows"
