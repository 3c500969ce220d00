"""A progress line on the terminal that shows the time that something has taken so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text


def begin(text: str, seconds: float, stream: TextIO) -> Callable[[], None]:
    """Shows the text and the elapsed time, which begins at `seconds`; the function that it gives removes the line.

    What the program prints goes where it went.
    """
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(file=stream, force_jupyter=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    progress.add_task(Text(text).markup, total=None)
    (task,) = progress.tasks
    assert task.start_time is not None
    task.start_time -= seconds
    progress.start()
    return progress.stop
