"""Statements: assignment, deletion, imports, assertions, exceptions, context managers."""

from __future__ import annotations

import contextlib

from . import programs
from .compare import check

COUNT = 0
MODULE_LIST = [1, 2]


class Box:
    """Logs what happens to its attributes and items."""

    def __init__(self, log):
        self.__dict__["log"] = log
        self.__dict__["value"] = 1

    def __setattr__(self, name, value):
        self.log.append(("set", name, value))
        self.__dict__[name] = value

    def __delattr__(self, name):
        self.log.append(("del", name))

    def __setitem__(self, index, value):
        self.log.append(("item", index, value))

    def __getitem__(self, index):
        self.log.append(("get", index))
        return 10

    def __delitem__(self, index):
        self.log.append(("delitem", index))


def test_assignment_order():
    def assign(log):
        box = Box(log)

        def see(x):
            log.append(x)
            return x

        (see(0) or box).value = box[see(1)] = see(2)
        box[see(3)], box.b, (c, *box.d), [e] = see([1, 2, (3, 4, 5), "x"])
        x = y = z = []
        x.append(1)
        return c, e, y, z

    check(assign, [])


def test_augmented_assignment():
    def augment(log, xs):
        box = Box(log)

        def see(x):
            log.append(x)
            return x

        box.value += see(2)
        box[see("i")] -= see(3)
        box[see(1) : see(2)] *= see(2)
        ys = xs
        ys += [1]
        n = 3
        n **= 2
        n //= 2
        n @= 2  # no such operation: TypeError
        return n

    def numbers(a):
        a += 1; a -= 2; a *= 3; a /= 2; a %= 5; a = int(a); a |= 1; a &= 7; a ^= 2; a <<= 3; a >>= 1  # fmt: skip
        return a

    check(augment, ([], [0]))
    check(numbers, 5, 10)


def test_unpacking_errors():
    def unpack(xs):
        a, (b, *c), *d, e = xs
        return a, b, c, d, e

    check(unpack, [1, (2, 3), 4, 5], [1, (2,), 5], [1], [1, 2, 3], [1, (), 3])


def test_annotations_and_delete():
    def annotate(d):
        x: undefined_name = 1  # noqa: F821
        y: int
        d["k"]: int = 2
        del d["a"], x
        z, w = 1, 2
        del (z, [w])
        return x

    def unbound(flag):
        if flag:
            v = 1
        return v

    def deleted(d):
        box = Box(d)
        del box.a, box[1:2]
        return d

    check(annotate, {"a": 1})
    check(unbound, True, False)
    check(deleted, [])


def test_assert_evaluates_its_message_late():
    check(programs.asserts, (1, []), (-1, []), (5, []))


def test_globals():
    def count(n):
        global COUNT
        COUNT = n
        for COUNT in range(n):
            COUNT += 1
        try:
            return COUNT, [COUNT for _ in range(2)]
        finally:
            del COUNT

    check(count, 0, 3)


def test_imports():
    def imports():
        import math
        import os.path as path
        import xml.dom
        from collections import OrderedDict as Ordered
        from math import floor, pi

        from .compare import plain as relative

        return math.sqrt(4), path.basename("a/b"), xml.dom.__name__, Ordered.__name__, floor(pi), relative(1)

    check(imports)


def test_exceptions():
    def handle(kind, log):
        try:
            log.append("body")
            if kind == 1:
                raise ValueError("one")
            if kind == 2:
                raise KeyError("two") from ValueError("cause")
            if kind == 3:
                [][1]
            if kind == 4:
                raise OSError
        except ValueError as error:
            log.append(str(error))
        except (KeyError, IndexError) as error:
            log.append(type(error).__name__)
            raise RuntimeError("again") from error
        except:
            log.append("bare")
            raise
        else:
            log.append("else")
        finally:
            log.append("finally")
        return error

    check(handle, *[(kind, []) for kind in range(5)])


def test_exception_names_are_unbound():
    def unbound(n):
        for i in range(n):
            try:
                if i:
                    raise ValueError(i)
            except ValueError as e:
                if i == 2:
                    continue
                if i == 3:
                    break
            else:
                e = "other"
        return e

    def escapes():
        try:
            try:
                raise ValueError
            except ValueError as e:
                raise KeyError from e
        except KeyError:
            return e

    def captured():
        def read():
            return e

        try:
            raise ValueError
        except ValueError as e:
            return read

    check(unbound, 1, 2, 3, 5)
    check(escapes)
    check(lambda: captured()())


def test_with():
    @contextlib.contextmanager
    def manager(log, name, swallow=False):
        log.append(f"enter {name}")
        try:
            yield [name, name]
        except ValueError:
            log.append(f"error {name}")
            if not swallow:
                raise
        finally:
            log.append(f"exit {name}")

    def managed(kind, log):
        with manager(log, "a", True) as [p, q], manager(log, "b") as r:
            log.append((p, q, r))
            if kind == 1:
                raise ValueError
            if kind == 2:
                return "inner"
            with manager(log, "c"):
                if kind == 3:
                    return log.append("returning")
        for i in range(3):
            with manager(log, i):
                if i == kind - 4:
                    continue
                if i == kind - 5:
                    break
                log.append("body")
        return kind

    check(managed, *[(kind, []) for kind in range(9)])


def test_finally_with_jumps():
    def leave(kind, log):
        for i in range(4):
            try:
                if kind == 1 and i == 1:
                    continue
                if kind == 2 and i == 2:
                    break
                if kind == 3 and i == 1:
                    return "returned"
                if kind == 4 and i == 1:
                    raise ValueError
            except ValueError:
                if i == 1:
                    return "handled"
            else:
                log.append(("else", i))
            finally:
                log.append(("finally", i))
                for j in range(3):
                    if j == 1:
                        break
            log.append(("after", i))
        else:
            log.append("loop else")
        return log.append("end")

    check(leave, *[(kind, []) for kind in range(5)])
