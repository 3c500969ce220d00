"""The speed of the processor, by which estimates of times are scaled."""

from __future__ import annotations

import functools
import time

_SECONDS = 1.75e-4
"""What the loop takes on the processor on which the times were measured that estimates go by."""
_TRIALS = 5
_TRIPS = 3_000
_LEAST, _MOST = 0.25, 8.0


@functools.cache
def slowness() -> float:
    """How many times as long a computation takes as on the processor of the estimates. Telling it takes a millisecond."""
    seconds = min([_seconds_of_loop() for _ in range(_TRIALS)])
    return min(max(seconds / _SECONDS, _LEAST), _MOST)


def _seconds_of_loop() -> float:
    began = time.thread_time()
    number, found = 0, {}
    for i in range(_TRIPS):
        number = (number * 5 + i) & 1023
        found[number] = i
    return time.thread_time() - began
