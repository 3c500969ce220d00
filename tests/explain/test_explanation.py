"""What `explain` says of lines is what the program has of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pystage
from explain import programs
from pystage.explain import Explanation, Listing, Mark
from pystage.explain.text import as_json, as_text
from pystage.runtime.reports.ledger import ledger

X = np.ones((3, 3))


def listing(explanation: Explanation, name: str) -> Listing:
    (found,) = [each for each in explanation.listings if each.name == name]
    return found


def marks(found: Listing) -> dict[str, str]:
    """By the text of each line, what became of it."""
    return {line.text.strip(): line.mark.value for line in found.lines}


def names(found: Listing) -> dict[str, tuple[str, ...]]:
    return {name: tuple(types) for line in found.lines for name, types in line.names.items()}


def test_lines_of_a_program() -> None:
    explanation = programs.run.explain(programs.Model([X, X]), X)
    assert explanation.staged is not None
    main = listing(explanation, "run")
    assert marks(main) == {
        'def run(model, x, mode="fast"):': "",
        "y = model(x)": "staged",
        'if mode == "slow":': "constant",
        'print("slow")': "not run",
        "z = jnp.linalg.qr(jnp.asarray(y))[0]": "through JAX",
        "return z, helper(y[0], 2.0) + helper(y[:, 0], 3)": "staged",
    }
    assert names(main) == {
        "model": ("Model",),
        "x": ("float64[3, 3]",),
        "mode": ("'fast'",),
        "y": ("float64[3, 3]",),
        "z": ("jax float32[3, 3]",),
    }


def test_functions_that_are_called() -> None:
    explanation = programs.run.explain(programs.Model([X, X]), X)
    called = listing(explanation, "Model.__call__")
    (loop,) = [line for line in called.lines if line.trips is not None]
    assert loop.text.strip() == "for w in self.weights:" and loop.trips == 2
    assert names(listing(explanation, "helper"))["w"] == ("2.0", "3")
    assert "called, and staged: Model.__call__" in str(explanation)


def test_nothing_is_called() -> None:
    function = pystage.compile(programs.raises)
    assert function.explain(pystage.spec("f64[4]")).staged is not None
    assert function.signatures() == []


def test_what_is_refused() -> None:
    explanation = pystage.compile(programs.appends, fallback="lazy").explain(np.ones(10))
    assert explanation.staged is None
    (problem,) = explanation.problems
    assert problem.code == "PS301"
    found = marks(listing(explanation, "appends"))
    assert [text for text, mark in found.items() if mark == Mark.REFUSED.value] == ['rows.append(f"{x[i]}")']
    assert found["if x[i] > 0:"] == "staged"
    text = str(explanation)
    assert "a call runs as Python" in text and "error[PS301]" in text


def test_the_problems_are_those_of_the_call() -> None:
    for function in (programs.appends, programs.timed, programs.asks_often):
        staged = pystage.compile(function, fallback="error")
        with pytest.raises(pystage.StagingError) as refused:
            staged(np.ones(10))
        explained = staged.explain(np.ones(10)).problems
        assert [str(p) for p in explained] == [str(p) for p in refused.value.diagnostics]


def test_what_raises_whatever_the_values_are() -> None:
    explanation = pystage.compile(programs.product).explain(X, np.ones((4, 2)))
    assert explanation.staged is not None
    (problem,) = explanation.problems
    assert problem.code == "PS223" and "ValueError" in problem.headline
    assert marks(listing(explanation, "product"))["return x @ w"] == "raises"
    assert "whatever the values are" in str(explanation)


def test_what_raises_in_a_function_of_numpy_stands_at_its_call() -> None:
    (problem,) = pystage.compile(programs.inverts).explain(X[0]).problems
    assert problem.code == "PS223" and problem.span is not None
    spans = [problem.span, *[note.span for note in problem.notes if note.span is not None]]
    assert {Path(span.file) for span in spans} == {Path(programs.__file__)}


def test_what_plain_python_raises_too_shows_its_operands() -> None:
    """Each with its type, and where it was assigned, for what raises as for what is refused."""
    (problem,) = pystage.compile(programs.product).explain(X, np.ones((4, 2))).problems
    assert {note.label for note in problem.notes} == {
        "float64[3, 3]", "'x' is an argument", "float64[4, 2]", "'w' is an argument",
    }  # fmt: skip
    (problem,) = pystage.compile(programs.sum_of_parts).explain(X, np.ones(4)).problems
    assert {"float64[6, 3]", "'both' is assigned here", "float64[4]"} <= {n.label for n in problem.notes}


def test_lines_without_operations_of_their_own() -> None:
    """What works on values of the run is staged, also where it adds nothing to the program."""
    found = marks(listing(pystage.compile(programs.peeled).explain(X), "peeled"))
    assert found["for _ in range(3):"] == found["total = x"] == "staged"
    assert found["total = None"] == "constant"
    found = marks(listing(pystage.compile(programs.copies).explain(X[0]), "copies"))
    assert found['raise ValueError("positive")'] == found["y = x.copy()"] == "staged"


def test_numbers_of_several_kinds() -> None:
    explanation = pystage.compile(programs.of_two_kinds).explain(X, 1)
    assert names(listing(explanation, "of_two_kinds"))["z"] == ("int or float",)


def test_types_in_place_of_arrays() -> None:
    explanation = pystage.compile(programs.stores).explain(pystage.spec("f32[3]"))
    assert explanation.staged is not None


def test_an_explanation_is_no_compilation() -> None:
    function = pystage.compile(programs.copies, name="copies_explained")
    before = len(ledger.accounts)
    function.explain(X)
    assert len(ledger.accounts) == before


def test_constants_that_programs_are_made_for() -> None:
    def shaped(n: Any) -> Any:
        return np.zeros(n)

    text = str(pystage.compile(shaped).explain(4))
    assert "a program for n = 4 alone: the shape of zeros" in text


def test_methods_and_gradients() -> None:
    class Scale:
        @pystage.compile
        def apply(self, x: Any) -> Any:
            return x * 2

    assert Scale().apply.explain(X).staged is not None
    assert pystage.grad(lambda x: (x * x).sum()).explain(X).staged is not None


def test_as_data() -> None:
    explanation = pystage.compile(programs.timed).explain(X)
    found = json.loads(as_json(explanation))
    assert found["compiled"] is False
    (problem,) = found["problems"]
    assert problem["code"] == "PS601" and problem["place"]["line"] > 0
    assert problem["rewrite"]["complete"] is True
    (function,) = found["functions"]
    assert function["lines"][1]["mark"] == "not staged"


def test_in_notebooks() -> None:
    page = pystage.compile(programs.timed).explain(X)._repr_html_()
    assert page.startswith("<pre") and "PS601" in page and "<span style=" in page


def test_long_functions_are_abridged() -> None:
    body = "".join([f"    y = x + {i}\n" for i in range(100)])
    namespace: dict[str, Any] = {}
    path = "/tmp/pystage_long_function.py"
    source = f"import time\ndef long(x):\n{body}    z = time.time()\n    return y + z\n"
    with open(path, "w") as file:
        file.write(source)
    exec(compile(source, path, "exec"), namespace)
    explanation = pystage.compile(namespace["long"]).explain(X)
    assert len(as_text(explanation).splitlines()) < 40
    assert len(as_text(explanation, full=True).splitlines()) > 100


def test_shorter() -> None:
    explanation = pystage.compile(programs.appends).explain(np.ones(10))
    (line,) = as_text(explanation, short=True).splitlines()
    assert "programs.py:" in line and "PS301" in line
    staged = pystage.compile(programs.rolled).explain(np.ones(3))
    assert as_text(staged, short=True) == "rolled is compiled: rolled(float64[3]) -> np.float64"


@pytest.mark.parametrize(
    ("function", "gives"),
    [
        (lambda x: float(x.sum()), "-> float"),
        (lambda x: (x, x * 2, len(x)), "-> (x, float64[10], 10)"),
        (lambda x: ((x * 2)[1:], x[1:], None), "-> (float64[9], view of x, None)"),
        (lambda x: {"a": x * 2}, "-> dict of 1"),
        (lambda x: x * 2 if x[0] > 0 else None, "-> float64[10] or None"),
        (lambda x: f"{x[0]:.2f}", "-> str"),
    ],
)
def test_the_headline_tells_the_result_in_numpys_words(function: Any, gives: str) -> None:
    first = str(pystage.compile(function).explain(np.ones(10))).splitlines()[0]
    assert first == f"<lambda> is compiled: <lambda>(float64[10]) {gives}"


def test_the_headline_of_what_certainly_raises() -> None:
    first = str(pystage.compile(programs.product).explain(X, np.ones((4, 2)))).splitlines()[0]
    assert first.startswith("whatever the values are, product(float64[") and first.endswith(
        " raises ValueError"
    )


def test_what_each_trip_of_an_unrolled_loop_knows_is_no_constant() -> None:
    found = marks(listing(pystage.compile(programs.counts_its_calls).explain(X[0]), "counts_its_calls"))
    assert found["last = None"] == "constant"
    assert found["for i in [0, 1]:"] == found["k = i + 1"] == found["last = k"] == "unrolled"
    assert found["counted += 1"] == "staged"


def grid(n, k):
    return np.arange(n).reshape(2, -1)[:, :k]


def test_a_size_of_which_only_the_type_is_given() -> None:
    """A call makes a program for its value; so does the explanation, for a value that it names."""
    integer = pystage.spec("s64[]", "python")
    explanation = pystage.compile(grid).explain(integer, 2)
    assert explanation.staged is not None and not explanation.problems
    assert dict(explanation.assumed) == {"n": 8} == json.loads(as_json(explanation))["assumed"]
    assert "`n = 8` stands for any value" in as_text(explanation)
    assert not pystage.compile(grid).explain(6, 2).assumed


def along(x, axis):
    return x.sum(axis=axis)


def test_an_axis_of_which_only_the_type_is_given() -> None:
    explanation = pystage.compile(along).explain(np.ones((2, 3)), pystage.spec("s64[]", "python"))
    assert explanation.staged is not None and dict(explanation.assumed) == {"axis": 1}


def bytes_of(x):
    return x.tobytes()


def base_of(x):
    return x[1:].base is x


def test_an_example_is_of_the_same_advice() -> None:
    """Both attributes are PS603; that of the second is the example."""
    shown = [as_text(pystage.compile(function).explain(np.ones(3))) for function in (bytes_of, base_of)]
    assert ["a program like it" in text for text in shown] == [False, True]


def odd(n):
    return np.zeros(n)[9]


def test_a_size_for_which_no_value_serves_is_asked_for() -> None:
    explanation = pystage.compile(odd).explain(pystage.spec("s64[]", "python"))
    assert explanation.staged is None and not explanation.assumed
    assert "a call has the values" in as_text(explanation)


def test_nothing_is_displayed_but_the_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook rich displays what it prints, to wherever."""
    shown: list[object] = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *args: shown.append(args))
    for function in (grid, odd):
        explanation = pystage.compile(function).explain(*[4] * function.__code__.co_argcount)
        assert as_text(explanation, color=True) and explanation._repr_html_()
    with pytest.raises(pystage.StagingError) as caught:
        pystage.compile(lambda x: eval(x))("a")
    assert str(caught.value) and not shown


def test_a_builtin_function_without_a_signature_is_explained() -> None:
    explanation = pystage.compile(min).explain({1, 2})
    assert explanation.staged is None and explanation.problems
