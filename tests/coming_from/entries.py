"""What an entry is, and where they are collected."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """One failure: under which name the tool reports it, what it means there, and what pystage makes of the program.

    `program` is plain Python, `args` are the arguments of the call. `code` is that of pystage's own refusal; None where it
    compiles. `comment` says what is worth knowing about pystage's side.
    """

    tool: str
    name: str
    says: str
    program: Callable[..., Any]
    args: tuple[Any, ...]
    code: str | None
    comment: str

    @property
    def source(self) -> str:
        """The program, without the decorator that declares it."""
        text = inspect.getsource(self.program)
        return text[text.index("\ndef ") + 1 :].rstrip()


QUESTIONS: list[Question] = []


def asked(
    tool: str, name: str, says: str, *args: Any, code: str | None = None, comment: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a program; `args` are those of its call."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        QUESTIONS.append(Question(tool, name, says, program, args, code, comment))
        return program

    return declare
