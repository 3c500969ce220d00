"""The recording of a step: its tensors, apart from all others, and the one place that refuses it.

The arguments of a step are `Parameter` nodes, which have no array. So values computed from them cannot be observed: every
way from a tensor to its elements ends in `value_of`, which asks the recording. A tensor belongs to the recording, if any,
that ran in its thread when it was made, and is used there only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ...compiler.hlo.types import ArrayType
from ..arena import Arena, Registered
from ..graph import Node


class StepError(RuntimeError):
    """A step (`lazy.step`) does not repeat: it looks at values or draws, or what it does is not what it did."""


class Abandoned(BaseException):
    """Ends a recording: the function runs as plain Python. No exception handler of the user may catch this."""


class Parameter(Node):
    """An argument of a step: number `place`. `number` is its value, where it is a Python number or NumPy's scalar."""

    __slots__ = ("number", "place")

    def __init__(self, type: ArrayType, device: Any, place: int, number: Any = None) -> None:
        super().__init__(type, device, None)
        self.place = place
        self.number = number


class Recording(Arena):
    """The tensors that a thread makes while it records a step."""

    __slots__ = ("checks", "demanded", "is_abandoned", "name", "refusal")

    def __init__(self, name: str, device: Any) -> None:
        super().__init__(device)
        self.name = name
        self.demanded: set[int] = set()
        """The parameters whose values somebody has looked at: they are part of the program's key."""
        self.checks: list[Node] = []
        """The results that tell whether a call raises."""
        self.refusal: StepError | None = None
        """Why the step is refused, even if the function has caught the exception."""
        self.is_abandoned = False

    def is_cut(self) -> bool:
        """False: a step is one program."""
        return False

    def refuse(self, what: str) -> NoReturn:
        """Raises StepError, also at the end of the recording."""
        self.refusal = self.refusal or StepError(
            f"the step `{self.name}` {what}, so that it cannot be replayed"
        )
        raise self.refusal

    def abandon(self) -> NoReturn:
        """Ends the recording."""
        self.is_abandoned = True
        raise Abandoned

    def reveal(self, inputs: Sequence[Node], cause: str) -> None:
        """Gives numbers among the parameters their values. StepError for other parameters: `cause` looks at them."""
        pending = [node for node in inputs if node.array is None]
        for node in pending:
            if not isinstance(node, Parameter) or node.number is None:
                self.refuse(f"looks at values ({cause})")
        for node in pending:
            assert isinstance(node, Parameter)
            node.array = np.asarray(node.number, node.type.dtype)[()]
            self.demanded.add(node.place)


class _Thread(threading.local):
    recording: Recording | None = None
    """What this thread is recording."""
    blocks = 0
    """In how many blocks of a step this thread is."""
    eager: frozenset[str] = frozenset()
    """The names of the calls that are computed at once: `lazy.eager`."""
    is_eager = True
    """False in a step and in a block of one: there all is recorded, however small."""


thread = _Thread()


@contextmanager
def recorded(recording: Recording) -> Iterator[None]:
    """A `with` block that records what this thread does."""
    thread.recording, thread.is_eager = recording, False
    try:
        yield
    finally:
        thread.recording, thread.is_eager = None, not thread.blocks


def refuse_in_step(what: str) -> None:
    """Raises StepError where a step is being recorded."""
    if thread.recording is not None:
        thread.recording.refuse(what)


def refuse_use(tensor: Registered) -> NoReturn:
    """Raises StepError for a tensor that does not belong to what this thread is recording."""
    if thread.recording is not None:
        thread.recording.refuse("uses a lazy tensor that is no argument")
    name = tensor._recording.name
    raise StepError(
        f"a lazy tensor of the step `{name}` has no value: it was made while the step was recorded"
    )
