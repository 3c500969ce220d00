"""`match` statements, every kind of pattern."""

from __future__ import annotations

from dataclasses import dataclass

from .compare import check


@dataclass
class Point:
    """A class with positional sub-patterns."""

    x: float
    y: float = 0


class Color:
    """Names for value patterns."""

    RED = "red"
    CODE = 7


def describe(v):
    match v:
        case 0 | -1 | 2.5 | "zero" | -1j | 1 + 2j:
            return "literal"
        case None | True:
            return "singleton", v
        case Color.RED | Color.CODE:
            return "value"
        case [] | ():
            return "empty"
        case [x]:
            return "one", x
        case [1, x, *rest] if len(rest) > 1:
            return "many", x, rest
        case [first, *_, last]:
            return "ends", first, last
        case {"kind": "circle", "r": r}:
            return "circle", r
        case {"kind": kind, **rest}:
            return "kind", kind, rest
        case {}:
            return "mapping"
        case Point(0, y=yy) | Point(yy, 0):
            return "axis", yy
        case Point(x=float() as fx, y=[*_] as ys):
            return "odd point", fx, ys
        case Point(x, y):
            return "point", x, y
        case str(s) | bytes(s):
            return "text", s
        case int(n) if n > 100:
            return "big", n
        case int():
            return "int"
        case other:
            return "other", type(other).__name__


def test_every_pattern():
    check(
        describe, 0, -1, 2.5, "zero", -1j, 1 + 2j, None, True, False, "red", 7, [], ((),), [4], ([1, 2, 3, 4],), [1, 2, 3],
        [[5], 6], {"kind": "circle", "r": 2}, {"kind": "circle"}, {"kind": 1, "z": 2}, {}, {"a": 1}, Point(0, 3),
        Point(3, 0), Point(1.5, [1]), Point(1, 2), "text", b"text", 101, 50, 3.5, {1, 2},
    )  # fmt: skip


def test_captures_bind_only_on_success():
    def capture(v):
        x = "before"
        match v:
            case [x, 1]:
                pass
            case [y, 2] if x == "before":
                x = y
            case (3 as z) | [z, 3]:
                return z
        return x

    check(capture, [5, 1], [5, 2], [5, 3], 3, [9], 4)


def test_match_in_a_loop_with_jumps():
    def run(xs):
        out = []
        for x in xs:
            match x:
                case 0:
                    continue
                case 9:
                    break
                case [a, b]:
                    out.append(a + b)
                case {"stop": value}:
                    return value, out
                case _:
                    out.append(x)
            out.append("after")
        else:
            out.append("else")
        return out

    check(run, ([1, 0, [1, 2], 3],), ([1, 9, 3],), ([{"stop": 5}, 2],), ([],))


def test_bindings_before_guard():
    def guard(v, log):
        match v:
            case [a, b] if log.append((a, b)) or a > b:
                return "first"
            case [a, _] if log.append(a) or a:
                return "second"
        return a

    check(guard, ([2, 1], []), ([1, 2], []), ([0, 5], []), (3, []))


def test_attribute_that_is_missing():
    def missing(v):
        match v:
            case Point(z=1):
                return "z"
            case object(x=x):
                return x
            case _:
                return None

    check(missing, Point(1, 2), 5)
