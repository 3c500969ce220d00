"""The Mandelbrot set by escape time: three nested loops, the inner one left by `break`.

In: the coordinates of the columns and rows, and the most iterations to try. Out: for each point, after how
many iterations it left the circle of radius 2 (`limit` if it did not). One staged program does the whole
picture.

Run it: `python examples/mandelbrot.py`
"""

from __future__ import annotations

import time

import numpy as np

import pystage


def mandelbrot(xs, ys, limit):
    """Escape times, int32 of shape `[len(ys), len(xs)]`, of the points `xs[j] + ys[i]·i`."""
    times = np.zeros((len(ys), len(xs)), dtype=np.int32)
    for i in range(len(ys)):
        for j in range(len(xs)):
            re = im = 0.0
            for step in range(limit):
                re, im = re * re - im * im + xs[j], 2.0 * re * im + ys[i]
                if re * re + im * im > 4.0:
                    times[i, j] = step
                    break
            else:
                times[i, j] = limit
    return times


PROGRAMS = [
    (mandelbrot, lambda: (np.linspace(-2.0, 0.5, 11), np.linspace(-1.0, 1.0, 9), 30)),
]
"""What the tests run: a function, and what makes its arguments."""


def picture(times, limit):
    """The escape times as lines of text."""
    shades = " .:-=+*%@#"
    return "\n".join("".join(shades[min(int(t), limit) * 9 // limit] for t in row) for row in times)


def main() -> None:
    """Draws the set, and compares with the plain run in values and time."""
    limit = 100
    xs, ys = np.linspace(-2.1, 0.6, 100), np.linspace(-1.15, 1.15, 40)
    staged = pystage.compile(mandelbrot, tier="compiled")
    staged(xs, ys, limit)

    start = time.perf_counter()
    times = staged(xs, ys, limit)
    staged_seconds = time.perf_counter() - start
    start = time.perf_counter()
    plain = mandelbrot(xs, ys, limit)
    plain_seconds = time.perf_counter() - start

    print(picture(times, limit))
    different = int((times != plain).sum())
    # Fused multiply-add rounds once where Python rounds twice; on the edge of the set that may decide.
    print(f"{times.size} points, {different} of them differ from the plain run")
    print(f"plain {plain_seconds:.3f} s, staged {staged_seconds:.4f} s")


if __name__ == "__main__":
    main()
