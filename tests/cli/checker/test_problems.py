"""What `pystage check` finds in programs that are wrong for some sizes, and that it finds nothing in right ones."""

from __future__ import annotations

import pytest

from .checking import HEADER, Check

MATMUL = "this raises ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0 "
PROBLEMS: dict[str, tuple[str, str, str, str | None]] = {
    "matmul": (
        'def f(x: "f32[batch, 784]", w: "f32[features, 10]"): return x @ w',
        "PS223",
        MATMUL + "(size features is different from 784)",
        "`features` need not be 784; it fits where it is",
    ),
    "transpose": (
        'def f(x: "f32[batch, features]", w: "f32[hidden, features]"): return jnp.dot(jnp.array(x), w)',
        "PS206",
        "shapes (batch,features) and (hidden,features) not aligned: features (dim 1) != hidden (dim 0)",
        "`features` and `hidden` need not be equal; it fits where they are",
    ),
    "broadcast": (
        'def f(x: "f32[batch, features]", b: "f32[batch]"): return x + b',
        "PS201",
        "operands of add have shapes that do not broadcast: (batch, features) and (batch,)",
        "`batch` and `features` need not be equal; it fits where they are",
    ),
    "concatenate": (
        'def f(x: Float32[Array, "n 3"], y: Float32[Array, "m 4"]): return jnp.concatenate([x, y])',
        "PS206",
        "all the input array dimensions",
        None,
    ),
    "reshape": (
        'def f(x: "f32[batch, 28, 28]"): return x.reshape(batch_of(x), 28 * 27)\ndef batch_of(x): return x.shape[0]',
        "PS223",
        "this raises ValueError: cannot reshape array of size 784*batch into shape (batch,756)",
        None,
    ),
    "divisible": (
        'def f(x: "f32[n]"): return x.reshape(4, -1)',
        "PS223",
        "this raises ValueError: cannot reshape array of size n into shape (4,newaxis)",
        "`n` need not be a multiple of 4; it fits where it is",
    ),
    "carried": (
        'def f(x: "f32[n, d]", w: "f32[d, h]", steps: int):\n    for i in range(steps): x = x @ w\n    return x',
        "PS223",
        MATMUL + "(size d is different from h)",
        "`d` and `h` need not be equal; it fits where they are",
    ),
    "one branch": (
        'def f(x: "f32[n, m]"):\n    if x[0, 0] > 0:\n        return x @ x\n    return x',
        "PS223",
        MATMUL + "(size n is different from m)",
        "`n` and `m` need not be equal; it fits where they are",
    ),
    "a demand of the user's": (
        'def f(x: "f32[n]", y: "f32[m]"):\n    if x.shape != y.shape: raise ValueError(f"got {x.shape}")',
        "PS223",
        "this raises ValueError: got (n,)",
        "`n` and `m` need not be equal; it fits where they are",
    ),
    "index": (
        'def f(x: "f32[n, 3]"): return x[:, 3]',
        "PS223",
        "this raises IndexError: index 3 is out of bounds for axis 1 with size 3",
        None,
    ),
    "result": (
        'def f(x: "f32[n, m]") -> "f32[m]": return x.sum(axis=1)',
        "PS222",
        "the result is float32[n], and the annotation says float32[m]",
        "`n` and `m` need not be equal; it fits where they are",
    ),
    "result of a sum": (
        'def f(x: "f32[n, 3]", y: "f32[m, 3]") -> "f32[n, 3]": return np.concatenate([x, y])',
        "PS222",
        "the result is float32[n+m,3], and the annotation says float32[n, 3]",
        None,
    ),
    "element type": (
        'def f(x: "f32[n, m]") -> "f32[n]": return x.mean(axis=1, dtype=np.float64)',
        "PS222",
        "the result is float64[n], and the annotation says float32[n]",
        None,
    ),
    "jaxtyping's result": (
        'def f(x: Float32[Array, "n m"]) -> Float32[Array, "m n"]: return x',
        "PS222",
        "the result is float32[n,m], and the annotation says Float32[Array, 'm n']",
        "`n` and `m` need not be equal; it fits where they are",
    ),
    "a part of a result": (
        'def f(x: "f32[n]") -> tuple["f32[n]", float]: return x, x',
        "PS222",
        "the result[1] is float32[n], and the annotation says float",
        None,
    ),
    "no tuple": (
        'def f(x: "f32[n]") -> tuple["f32[n]", float]: return x',
        "PS222",
        "the result is float32[n], and the annotation says tuple['float32[n]', float]",
        None,
    ),
    "no result": (
        'def f(x: "f32[n]") -> "f32[n]": x[0] = 1',
        "PS222",
        "the result is None, and the annotation says float32[n]",
        None,
    ),
    "one of two results": (
        'def f(x: "f32[n]", y: "f32[n]") -> "f32[3]":\n    if x[0] > 0:\n        return x\n    return y[:3]',
        "PS222",
        "the result is float32[n], and the annotation says float32[3]",
        "`n` need not be 3; it fits where it is",
    ),
    "larger than some size": (
        'def f(x: "f32[n]", y: "f32[m]"):\n    if x.shape[0] > 8:\n        return x + y\n    return x',
        "PS201",
        "operands of add have shapes that do not broadcast: (n,) and (m,)",
        "it depends on sizes: so with n = 17, m = 13, not with n = 7, m = 11",
    ),
    "too small": (
        'def f(x: "f32[n, m]"):\n' + 5 * "    x = x[: x.shape[0] // 2]\n" + "    return x[0]",
        "PS223",
        "this raises IndexError: index 0 is out of bounds for axis 0 with size 0",
        "it fits with larger sizes, such as n = 67, m = 71; give one by --dim",
    ),
    "a flag": (
        'def f(x: "f32[n, m]", y: "f32[m]", training: bool):\n    return x.T + y if training else x + y',
        "PS201",
        "operands of add have shapes that do not broadcast: (m, n) and (m,)",
        "with training = True",
    ),
    "not staged": (
        'def f(x: "f32[n]"): return open("x")',
        "PS601",
        "the call to open cannot be staged",
        None,
    ),
    "a derivative": (
        '@pystage.grad\ndef f(w: "f64[n]", x: "f64[m, n]"): return (x @ w) ** 2',
        "PS223",
        "this raises TypeError: Gradient only defined for scalar-output functions. Output had shape: (m,).",
        None,
    ),
}
TYPING = "from jaxtyping import Array, Float32\n"


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems(name: str, check: Check) -> None:
    program, code, message, note = PROBLEMS[name]
    result = check(TYPING + program)
    assert result.status == 1
    (found,) = result.found
    assert (found["code"], found["file"], found["function"]) == (code, "checked.py", "f")
    assert found["message"].startswith(message)
    notes = [each["message"] for each in found["notes"]]
    assert note in notes if note else not any("fits" in each for each in notes)
    merely = "1 function merely not compiled, " if name == "not staged" else ""
    assert result.last == f"checked 1 function in 1 file: 1 problem, {merely}0 not checked"


RIGHT = """
from dataclasses import dataclass
from typing import NamedTuple
from jaxtyping import Array, Float, Int

def matmul(x: "f32[batch, features]", w: "f32[features, hidden]") -> "f32[batch, hidden]": return x @ w
def concatenate(x: "f32[n, 3]", y: "f32[m, 3]") -> "f32[n + m, 3]": return np.concatenate([x, y])
def rows(x: "f32[batch, d]") -> "f32[batch, d]": return np.stack([row * 2 for row in x])
def heads(x: "f32[batch, h*d]", h: int) -> "f32[batch, h, d]": return x.reshape(len(x), h, -1)
def zeros(n: int, x: "f32[n]") -> "f64[n]": return np.zeros(n) + x
def handed_back(x: "f32[n, m]", y: "f32[n]") -> tuple["f32[m, n]", "f32[n-1]", "f32[n, m]"]:
    x[0] = 1
    return x.T, y[1:], x
def any_rank(x: Float[Array, "... n"]) -> Float[Array, "... n"]: return x * 2
def batched(x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]: return x.sum(axis=-1)
def free(x: "f32[n]") -> "f32[k, k]": return np.outer(x, x)
def lookup(table: Float[Array, "v d"], ids: Int[Array, "b s"]) -> Float[Array, "b s d"]: return table[ids]
def number(x: "f64[n]") -> float: return x.sum()
def nothing(x: "f64[n]") -> None: x[:] = 0
def caught(x: "f64[n]", y: "f64[m]"):
    try:
        return x @ y
    except ValueError:
        return x
def checked_first(x: "f64[n]"):
    if x[0] > 0:
        raise ValueError("must not be positive")
    return x
def path(x: "f64[n]"):
    y = None if x[0] > 0 else x
    return y + 1
def to_do(x: "f64[n]"): raise NotImplementedError
def to_do_after(x: "f64[n]", k: int) -> "f64[n]":
    x[k] = 1
    raise NotImplementedError

class Params(NamedTuple):
    w: "f32[i, o]"
    b: "f32[o]"

def forward(p: Params, x: "f32[batch, i]") -> "f32[batch, o]": return x @ p.w + p.b

@dataclass
class Layer:
    w: "f32[i, o]"
    @pystage.compile
    def __call__(self, x: "f32[batch, i]") -> "f32[batch, o]": return x @ self.w
    @staticmethod
    def static(x: "f32[n]") -> "f32[n]": return x
    @classmethod
    def of(cls, w: "f32[n, m]") -> "f32[m, n]": return w.T

@pystage.value_and_grad
def loss(w: "f64[n]", x: "f64[m, n]") -> float: return ((x @ w) ** 2).mean()

@pystage.compile(fallback="error")
def defaults(x=1.0, n=3): return np.zeros(n) + x

@pystage.compile
def options(x: "f32[n]", axis=0): return x.sum(axis=axis)
"""


def test_what_is_right_for_all_sizes(check: Check) -> None:
    result = check(RIGHT)
    assert result.status == 0, result.out
    assert result.last == "checked 24 functions in 1 file: 0 problems, 0 not checked"
    assert result.found == []


FUTURE = "from __future__ import annotations\n"


def test_annotations_that_are_not_evaluated(check: Check) -> None:
    result = check("", checked=FUTURE + HEADER + RIGHT)
    assert result.last == "checked 24 functions in 1 file: 0 problems, 0 not checked", result.out


def test_a_size_that_is_given(check: Check) -> None:
    text = 'def f(x: "f32[n]"): return x.reshape(4, -1)'
    assert check(text).status == 1
    assert check(text, "--dim", "n=64").status == 0
    (found,) = check(text, "--dim", "n=63").found
    assert (
        found["message"] == "this raises ValueError: cannot reshape array of size 63 into shape (4,newaxis)"
    )
