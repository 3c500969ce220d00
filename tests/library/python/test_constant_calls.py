"""Functions of Python's library on constants: they give what Python gives, and cost nothing in the program."""

from __future__ import annotations

import json
import os
import re
import struct
import textwrap
import urllib.parse
import zlib

import pytest
from checking import Cases, check

import pystage

cases = Cases()
ROOT = "/data/runs"


@cases(1.0, "train_3.npz")
def paths(x, name):
    stem, extension = os.path.splitext(os.path.basename(os.path.join(ROOT, name)))
    if extension == ".npz":
        x = x * int(stem.split("_")[1])
    return x, stem, os.path.dirname(os.path.join(ROOT, name)), os.path.isabs(name)


@cases(1.0)
def more_of_paths(x):
    parts = os.path.split("a/b/../c")
    return x * len(parts[0]), os.path.normpath("/".join(parts)), os.path.commonpath(["a/b", "a/c"])


@cases(3, 2.5)
def a_path_made_in_the_run(n, x):
    return os.path.join(ROOT, f"step_{n}_{x * 2}.npz"), os.path.basename(f"a/{n}")


@cases(1.0, ["Beta", "alpha"])
def methods_through_their_class(x, names):
    return x, sorted(names, key=str.lower), list(map(str.upper, names)), str.join("-", names)


@cases(2.0)
def texts(x):
    sizes = re.findall("[0-9]+", "conv 3x5")
    swapped = "ab".translate(str.maketrans("ab", "ba"))
    return x * int(sizes[1]), re.sub("[aeiou]", "", "pystage"), swapped, textwrap.dedent("  a\n  b")


@cases(2.0)
def data(x):
    layer = json.loads('{"units": [3, 4], "scale": 0.5}')
    layer["units"].append(5)
    return x * layer["scale"], layer["units"], json.dumps({"a": [1, None]}), struct.calcsize("if")


@cases(2.0)
def numbers_of_texts(x):
    return x * zlib.crc32(b"abc"), urllib.parse.quote("a b")


@cases(1.0)
def what_they_raise(x):
    try:
        return json.loads("{")
    except ValueError:
        return x


@cases(1.0, raises=TypeError)
def wrong_arguments(x):
    return os.path.join(3, "a")


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


class Hooked:
    def __fspath__(self):
        raise AssertionError("called while compiling")


def of_an_object(x):
    return x, os.path.join("a", Hooked())


def of_a_value(x):
    return json.dumps([x])


def by_a_function(x):
    return x, re.sub("a", lambda found: "b", "aa")


@pytest.mark.parametrize("function", [of_an_object, of_a_value, by_a_function])
def test_what_is_no_constant_is_refused_and_runs_no_code(function):
    with pytest.raises(pystage.StagingError) as error:
        pystage.compile(function, fallback="error")(1.0)
    assert [d.code for d in error.value.diagnostics] == ["PS601"]
