"""Running `pystage check` on files of a test."""

from __future__ import annotations

import json
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pystage.cli import main

HEADER = """\
import numpy as np
import jax
import jax.numpy as jnp
import pystage
"""


@dataclass(frozen=True)
class Checked:
    """What a run gave: the exit status, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def found(self) -> list[dict[str, Any]]:
        """The findings of the JSON."""
        return json.loads(self.out)  # type: ignore[no-any-return]

    @property
    def last(self) -> str:
        """The closing line."""
        return (self.err if self.err.strip() else self.out).splitlines()[-1]


Check = Callable[..., Checked]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Check:
    """Writes files and checks them: `check(text, *options, name=text, …)`; the first text is `checked.py`.

    The text has the imports of `HEADER` before it, on lines that do not count: its first line is line 5.
    """
    monkeypatch.chdir(tmp_path)

    def run(
        text: str, *options: str, format: str = "json", paths: tuple[str, ...] = (".",), **files: str
    ) -> Checked:
        for name, content in {"checked": HEADER + textwrap.dedent(text), **files}.items():
            path = tmp_path / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(content) if name != "checked" else content)
        linecache.checkcache()  # each test has another folder, and its files the same relative names
        status = main(["check", *paths, "--format", format, *options])
        captured = capsys.readouterr()
        return Checked(status, captured.out, captured.err)

    return run
