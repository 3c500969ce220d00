"""What users of AutoGraph, Numba, TorchDynamo and PyTorch/XLA meet, with NumPy in place of the tool's tensors."""

from __future__ import annotations

import numpy as np

from .entries import asked

AUTOGRAPH, NUMBA = "TensorFlow AutoGraph", "Numba"
DYNAMO, TORCH_XLA = "TorchDynamo (torch.compile)", "PyTorch/XLA"
X = np.array([3.0, -1.0, 2.0])


@asked(
    AUTOGRAPH,
    "ValueError: 'y' must also be initialized before the loop",
    "A variable that a staged loop or branch assigns must exist before it.",
    X,
    comment="Where no element is positive, it raises Python's own UnboundLocalError.",
)
def last_positive(x):
    for value in x:
        if value > 0:
            found = value
    return found


@asked(
    AUTOGRAPH,
    "ValueError: 'y' must also be initialized in the else branch",
    "Both branches must assign what is used after them.",
    2.0,
    comment="What is assigned on each path that reads it is enough.",
)
def in_both(x):
    if x > 1.0:
        y = x * 2
    if x > 1.0:
        return y
    return x


@asked(
    AUTOGRAPH,
    "ValueError: 'x' has shape (1,) before the loop, but shape (None,) after one iteration",
    "A loop variable changes its shape, and no shape invariant allows it.",
    X,
    comment="It has a capacity, which a run that needs more makes larger.",
)
def doubled_until(x):
    while x.sum() < 100.0:
        x = np.concatenate([x, x])
    return x


@asked(
    AUTOGRAPH,
    "TypeError: 'x' has dtype int32 before the loop, but dtype float32 after one iteration",
    "A loop variable changes its dtype.",
    5,
)
def averaged(n):
    total = 0
    for i in range(n):
        total = total + i / 2
    return total


@asked(
    AUTOGRAPH,
    "ValueError: a value must also be returned from the else branch",
    "`return` in one branch of a staged `if` only.",
    2.0,
    comment="The result is None where Python gives None.",
)
def maybe(x):
    if x > 0:
        return x * 2


@asked(
    AUTOGRAPH,
    "OperatorNotAllowedInGraphError: using a symbolic tf.Tensor as a Python bool",
    "`and`, `or`, `not` and chained comparisons where AutoGraph did not reach.",
    2.0,
    4.0,
)
def between(x, y):
    return x if 0 < x < y or x == 7.0 else y


@asked(
    AUTOGRAPH,
    "InaccessibleTensorError",
    "A Python list that is filled in a staged loop holds tensors of the loop.",
    X,
)
def collected(x):
    found = []
    for value in x:
        found.append(value * 2)
    return np.array(found)


@asked(
    NUMBA,
    "TypingError: non-precise type array(pyobject, 1d, C)",
    "An array of Python objects has no machine type.",
    np.array([1, None], dtype=object),
    code="PS802",
)
def of_objects(x):
    return x[0]


@asked(
    NUMBA,
    "TypingError: Cannot unify float64 and array(float64, 1d, C) for 'x'",
    "One variable has two types.",
    X,
    True,
)
def number_or_array(x, whole):
    y = x.sum()
    if whole:
        y = x * 2
    return y


@asked(
    NUMBA,
    "TypingError: Cannot unify Literal[int](0) and array(float64, 1d, C)",
    "A sum begins with the number 0 and becomes an array.",
    np.ones((3, 2)),
    np.int64(2),
)
def sum_of_rows(x, n):
    total = 0
    for i in range(n):
        total = total + x[i]
    return total


@asked(
    NUMBA,
    "TypingError: Use of unsupported NumPy function, or unsupported use of it",
    "Numba knows the function not at all, or not with this keyword.",
    np.ones((2, 3)),
)
def normalised(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@asked(
    NUMBA,
    "NumbaPendingDeprecationWarning: type 'reflected list'",
    "A Python list as an argument is converted element by element, back and forth.",
    [1.0, 2.0],
)
def appended(xs):
    xs.append(sum(xs))
    return len(xs)


class Settings:
    def __init__(self) -> None:
        self.rate = 0.5


SETTINGS = Settings()


@asked(
    NUMBA,
    "TypingError: Untyped global name 'SETTINGS': Cannot determine Numba type",
    "A global object, class or function that is not compiled itself.",
    X,
    comment="Attributes of global objects are read at each call.",
)
def with_settings(x):
    return x * SETTINGS.rate


@asked(
    NUMBA,
    "Cannot determine Numba type of <class 'Layer'>",
    "An instance of a plain class as an argument; `jitclass` is needed.",
    SETTINGS,
    X,
)
def with_an_object(settings, x):
    settings.rate = settings.rate * 0.5
    return x * settings.rate


@asked(
    NUMBA,
    "UnsupportedError: Exception matching is limited to <class 'Exception'>",
    "`except ValueError:` cannot be told from other exceptions.",
    0.0,
)
def inverse(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


@asked(
    NUMBA,
    "TypingError: cannot infer the type of an empty list or dict",
    "`[]` or `{}` says nothing about its elements.",
    X,
)
def in_a_dict(x):
    found = {}
    found["least"] = x.min()
    found["greatest"] = x.max()
    return found


@asked(
    NUMBA,
    "UnsupportedError: yield, with, or a class in a nopython function",
    "Generators and context managers have little support.",
    X,
    code="PS110",
    comment="Generators compile in loops of staged functions, and `with` where pystage sees its manager.",
)
def pairs(x):
    for i in range(len(x)):
        yield x[i]


@asked(DYNAMO, "Graph break: print", "`print` ends the graph, and Python runs on.", np.float64(3.0))
def loud(x):
    print(f"{x:.1f}")
    return x + 1


@asked(
    DYNAMO,
    "Graph break from Tensor.item()",
    "A Python number of a tensor needs its value now.",
    X,
)
def by_item(x):
    largest = x.max().item()
    return x / largest


@asked(
    DYNAMO,
    "Graph break: data-dependent branching",
    "An `if` on a tensor ends the graph; `torch.cond` is needed.",
    X,
)
def flipped(x):
    if x.sum() > 0:
        return -x
    return x


@asked(
    DYNAMO,
    "Dynamic shape operator: torch.nonzero",
    "The size of the result depends on values.",
    X,
)
def where_positive(x):
    return np.argwhere(x > 0)


@asked(
    DYNAMO,
    "GuardOnDataDependentSymNode: could not guard on a data-dependent expression",
    "A Python number that came of a tensor decides a branch or a slice.",
    np.array([1.0, 2.0, 3.0, 1.0]),
)
def sum_of_the_first(x):
    n = int(x[1])
    return x[:n].sum()


@asked(
    DYNAMO,
    "torch._dynamo hit config.recompile_limit",
    "An int argument or attribute that changes with each call is compiled anew until the limit, then never.",
    X,
    7,
    comment="A number is an input of the program; it is a constant only where a shape or the like needs it.",
)
def at_step(x, step):
    return x * 0.9**step


@asked(
    TORCH_XLA,
    "Recompilation at each step (slow, no error)",
    "The recorded graph differs from step to step, because a Python loop or a number in it did.",
    X,
    10,
)
def many_steps(x, n):
    for i in range(n):
        x = x - 0.1 * (x - i)
    return x


@asked(
    TORCH_XLA,
    "aten::_local_scalar_dense: the graph is cut at .item(), print and if",
    "Each look at a value runs what was recorded so far, and records anew.",
    X,
)
def until_small(x):
    trips = 0
    while float(np.abs(x).max()) > 0.1:
        x = x * 0.5
        trips += 1
    return trips
