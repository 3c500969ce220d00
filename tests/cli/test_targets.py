"""A function and its arguments as the user names them, and what is said where that does not work."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

import pystage
from pystage.cli import main
from pystage.cli.targets import ImportFailed, NamedTarget, UsageError, declare, find, module_at, target_from

MODULE = """
import functools
from dataclasses import dataclass
import numpy as np
import pystage

SIZE = 3

def predict(x: "f32[n, 3]", w: "f32[3]", rate: float, *, bias=1.0):
    return x @ w * rate + bias

def plain(x, y=2):
    return x + y

def wrong(x: "f32[n"):
    return x

@pystage.compile
def compiled(x: "f32[n]"):
    return x

class Model:
    @pystage.compile
    def apply(self, x):
        return x

    @classmethod
    def of(cls, n: int):
        return n

gradient = pystage.grad(predict)
lanes = pystage.vmap(predict)
slopes_of_lanes = pystage.jacobian(lanes)
held = functools.partial(predict, rate=2.0)
part_of_compiled = functools.partial(compiled)
part_of_gradient = functools.partial(gradient, rate=2.0, bias=3.0)
gradient_of_part = pystage.grad(held)

@pystage.custom_vjp
def ruled(x: "f32[n]"):
    return x.sum()

@dataclass
class Layer:
    w: "f32[n, m]"

    @pystage.compile
    def apply(self, x: "f32[n]"):
        return x @ self.w

    def plain(self, x: "f32[n]"):
        return x @ self.w

    @staticmethod
    @pystage.compile
    def static(x: "f32[n]"):
        return x

layer = Layer(np.ones((2, 3)))
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    path = tmp_path / "targeted.py"
    path.write_text(MODULE)
    return path


def target(*arguments: str) -> NamedTarget:
    parser = argparse.ArgumentParser()
    declare(parser)
    return target_from(parser.parse_args(arguments))


def refused(*arguments: str) -> str:
    with pytest.raises(UsageError) as error:
        target(*arguments)
    return str(error.value)


def test_a_function_by_file_and_by_module(module: Path) -> None:
    by_file, loaded, owner = find("targeted.py::predict")
    assert by_file.__name__ == "predict" and loaded.__name__ == "targeted" and owner is None
    assert find("targeted:predict").function is by_file
    assert find(f"{module}::Model.apply") == (loaded.Model.apply, loaded, loaded.Model)
    assert find(f"{module}::Model.of").owner is find(f"{module}::Layer.static").owner is None


def test_a_module_in_a_package_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (tmp_path / "outer_package" / "inner").mkdir(parents=True)
    (tmp_path / "outer_package" / "__init__.py").write_text("")
    (tmp_path / "outer_package" / "inner" / "__init__.py").write_text("")
    (tmp_path / "outer_package" / "inner" / "core.py").write_text("from . import __name__ as package")
    loaded = module_at(tmp_path / "outer_package" / "inner" / "core.py")
    assert (loaded.__name__, loaded.package) == ("outer_package.inner.core", "outer_package.inner")


def test_arguments_by_annotation(module: Path) -> None:
    found = target("targeted.py::predict", "--dim", "n=4")
    number = pystage.spec("f64[]", "python")
    assert found.args == (pystage.spec("f32[4,3]"), pystage.spec("f32[3]"), number)
    assert found.kwargs == {}
    assert target("targeted.py::gradient", "--dim", "n=4").args == found.args
    assert target("targeted.py::compiled", "--dim", "n=4").args == (pystage.spec("f32[4]"),)
    assert target("targeted.py::Model.of").args == (pystage.spec("s64[]", "python"),)


def test_annotations_of_what_is_made_of_a_function(module: Path) -> None:
    x, w = pystage.spec("f32[4,3]"), pystage.spec("f32[3]")
    size = ("--dim", "n=4")
    assert (
        target("targeted.py::held", *size).args
        == target("targeted.py::gradient_of_part", *size).args
        == (x, w)
    )
    found = target("targeted.py::part_of_gradient", *size)
    assert (found.args, found.kwargs) == ((x, w), {"rate": 2.0, "bias": 3.0})
    assert found.function is find("targeted.py::gradient").function
    assert target("targeted.py::part_of_compiled", *size).args == (pystage.spec("f32[4]"),)
    assert target("targeted.py::ruled", *size).args == (pystage.spec("f32[4]"),)


def test_methods(module: Path) -> None:
    for name in ("apply", "plain"):
        layer, x = target(f"targeted.py::Layer.{name}", "--dim", "n=4", "--dim", "m=5").args
        assert type(layer).__name__ == "Layer" and layer.w == pystage.spec("f32[4,5]")
        assert x == pystage.spec("f32[4]")
    given = target("targeted.py::Layer.apply", "--arg", "self=layer", "--dim", "n=2")
    assert given.args == (find("targeted.py::layer.apply").module.layer, pystage.spec("f32[2]"))
    assert target("targeted.py::layer.apply", "--dim", "n=2").args == (pystage.spec("f32[2]"),)
    assert target("targeted.py::Layer.static", "--dim", "n=2").args == (pystage.spec("f32[2]"),)


def test_arguments_by_option(module: Path) -> None:
    found = target("targeted.py::predict", "--dim", "n=4", "--arg", "w=f64[n]", "--arg", "bias=SIZE + 1")
    assert found.args[:2] == (pystage.spec("f32[4,3]"), pystage.spec("f64[4]"))
    assert found.kwargs == {"bias": 4}
    found = target("targeted.py::plain", "--args", "SIZE, y=np.arange(2)")
    assert found.args == (3,) and found.kwargs["y"].tolist() == [0, 1]
    for name, kind in (("int", "s64[]"), ("float", "f64[]"), ("complex", "c128[]")):
        assert target("targeted.py::plain", "--arg", f"x={name}").args == (pystage.spec(kind, "python"),)
    assert target("targeted.py::plain", "--arg", "x=str").args == (str,)


REFUSED: dict[str, tuple[list[str], str]] = {
    "no separator": (["targeted"], "'targeted' is neither module:function nor path/file.py::function"),
    "a file alone": (["targeted.py"], "'targeted.py' names a file and no function in it; there is "
                     "targeted.py::predict, targeted.py::plain, targeted.py::wrong, and 2 more"),
    "no source": (["math:sqrt"], "`sqrt` of math is written in C: there is no Python source to explain"),
    "no such function": (["targeted.py::predct"], "there is no `predct` in targeted.py; there is `predict`"),
    "nothing like it": (
        ["targeted.py::zzz"],
        "there is no `zzz` in targeted.py; there is `Layer`, `Model`, `compiled`, and 3 more",
    ),
    "no such method": (["targeted:Model.aply"], "there is no `aply` in targeted.Model; there is `apply`"),
    "a class": (["targeted.py::Model"], "`Model` of targeted.py is no function but a class: name one of its methods"),
    "a number": (["targeted.py::SIZE"], "`SIZE` of targeted.py is no function but of type int"),
    "no such file": (["targted.py::f"], "there is no file targted.py; there is `targeted.py`"),
    "no such module": (["no_such_module:f"], "no_such_module cannot be imported:\n"
                       "ModuleNotFoundError: No module named 'no_such_module'"),
    "a size": (["targeted.py::predict"], "the argument `x`: the size of the dimension `n` is not given; "
               "give it by --dim n=32"),
    "no annotation": (["targeted.py::plain"], "nothing says what the argument `x` is; give it by --arg x='f32[…]', "
                      'a number by --arg x=5, or all by --args, or annotate it: `x: Annotated[np.ndarray, "f32[n, 3]"]`'),
    "a type that is none": (["targeted.py::plain", "--arg", "x=f65[3]"],
                            "--arg x=f65[3]: there is no element type `f65`; there is `f64`, `f16`"),
    "no shape": (["targeted.py::wrong"], "the argument `x`: 'f32[n' is not a type such as 'f32[n, 784]'; "
                 "give it by --arg x='f32[…]' or a value, or all by --args"),
    "any bool": (["targeted.py::plain", "--arg", "x=bool"], "the argument `x`: a program is made for each value of a "
                 "`bool`; give it by --arg x=True, or all by --args"),
    "no such parameter": (["targeted.py::plain", "--arg", "z=1"], "the function has no parameter `z`"),
    "a parameter like it": (["targeted.py::predict", "--arg", "rat=1"],
                            "the function has no parameter `rat`; there is `rate`"),
    "no value": (["targeted.py::plain", "--arg", "x"], "--arg x: write it as --arg x=f32[3]"),
    "a negative size": (["targeted.py::plain", "--dim", "n=-1"],
                        "--dim n=-1: a size is a number that is not negative"),
    "both": (["targeted.py::plain", "--args", "1", "--arg", "x=1"],
             "give the arguments by --args, or by --arg and --dim, not by both"),
    "a size, too": (["targeted.py::plain", "--args", "1", "--dim", "n=1"],
                    "give the arguments by --args, or by --arg and --dim, not by both"),
    "no such dimension": (["targeted.py::Layer.apply", "--dim", "n=1", "--dim", "k=1"],
                          "--dim k: no annotation has a dimension `k`; there is `n`, `m`"),
    "no dimension": (["targeted.py::plain", "--arg", "x=f32[3]", "--dim", "n=1"],
                     "--dim n: no annotation has a dimension `n`"),
    "lanes": (["targeted.py::lanes", "--dim", "n=1"], "the annotations of a function do not say what the arguments "
              "of its `pystage.vmap` are; give all by --args"),
    "slopes of lanes": (["targeted.py::slopes_of_lanes"], "the annotations of a function do not say what the "
                        "arguments of its `pystage.vmap` are; give all by --args"),
    "an instance": (["targeted.py::Model.apply", "--arg", "x=1"], "the method needs an instance: `Model` says no shape "
                    "and no element type, and has no annotated fields; give it by --arg self='…', an expression, "
                    "or all by --args"),
    "an instance of no size": (["targeted.py::Layer.apply", "--dim", "n=4"], "the argument `self`: the size of the "
                               "dimension `m` is not given; give it by --dim m=32"),
    "raises": (["targeted.py::plain", "--args", "int('x')"], "--args int('x'): in targeted this raises "
               "ValueError: invalid literal for int() with base 10: 'x'"),
    "an argument raises": (["targeted.py::plain", "--arg", "x=1/0"],
                           "--arg x 1/0: in targeted this raises ZeroDivisionError: division by zero"),
    "not closed": (["targeted.py::plain", "--args", "np.ones((3,"], "--args: '(' was never closed\n"
                   "  np.ones((3,\n         ^"),
    "closed twice": (["targeted.py::plain", "--args", "SIZE)"], "--args: unmatched ')'\n  SIZE)\n       ^"),
    "no expression": (["targeted.py::plain", "--arg", "x=1 +"], "--arg x: invalid syntax\n  1 +\n  ^"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_asked_wrongly(name: str, module: Path) -> None:
    arguments, text = REFUSED[name]
    assert refused(*arguments) == text


def test_a_text_is_asked_for_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "texts.py"
    path.write_text("def shout(text: str): return text.upper()\n")
    assert refused(f"{path}::shout").endswith("; give it by --arg text='\"…\"', or all by --args")
    assert target(f"{path}::shout", "--arg", "text='a'").args == ("a",)


def test_a_module_that_raises_shows_its_own_frames_only(tmp_path: Path) -> None:
    path = tmp_path / "raises_at_import.py"
    path.write_text("def f():\n    return 1 / 0\n\nf()\n")
    with pytest.raises(ImportFailed) as error:
        module_at(path)
    assert str(error.value).splitlines() == [
        f"{path} cannot be imported:",
        "Traceback (most recent call last):",
        f'  File "{path}", line 4, in <module>',
        "    f()",
        *([] if "    ~^^" not in str(error.value) else ["    ~^^"]),
        f'  File "{path}", line 2, in f',
        "    return 1 / 0",
        "           ~~^~~",
        "ZeroDivisionError: division by zero",
    ]
    assert isinstance(error.value.error, ZeroDivisionError)


def test_a_module_that_is_no_python_and_one_that_exits(tmp_path: Path) -> None:
    for text, end in (
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
    ):
        path = tmp_path / f"module_{len(text)}.py"
        path.write_text(text)
        with pytest.raises(UsageError) as error:
            module_at(path)
        assert str(error.value).endswith(end)
        assert not re.search(r"targets\.py|importlib", str(error.value))


def test_the_exit_status_is_2(module: Path, capsys: Any) -> None:
    assert main(["explain", "targeted.py::zzz"]) == 2
    assert capsys.readouterr().err.startswith("pystage: there is no `zzz` in targeted.py; there is `Layer`")


@pytest.mark.parametrize("command", ["explain", "check", "dump", "doctor"])
def test_an_unknown_option_shows_the_usage_of_its_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, *(["x.py"] if command != "doctor" else []), "--bogus"])
    told = capsys.readouterr().err
    assert told.startswith(f"usage: pystage {command} ") and "unrecognized arguments: --bogus" in told
