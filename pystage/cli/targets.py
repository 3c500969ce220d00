"""Resolves what the command line names: a function and its arguments.

`TARGET` is `module:function`, `module:Class.method` or `path/file.py::function`. Arguments come from `--args`, an
expression that is evaluated in the module; from `--arg name=…`, a type such as `f32[32,784]` or an expression; and from
annotations and defaults.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import difflib
import functools
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType, TracebackType
from typing import Any, NamedTuple

from ..compiler.policy import is_own_file
from ..records import dataclass
from ..runtime.arguments.abstract import spec
from ..runtime.arguments.annotations import annotations_of
from ..runtime.arguments.targets import Target, target_of
from ..runtime.function import BoundFunction, CompiledFunction
from ..transforms import custom_vjp
from .annotations import (
    ELEMENT_TYPES,
    NUMBERS,
    NotAnArgument,
    UnknownSize,
    argument_of,
    array_of,
    array_of_text,
    dimensions_in,
    instance_of,
    named_type,
)
from .completion import complete_target


class UsageError(Exception):
    """What the user asked for is not there, or makes no sense. The text says it; the exit status is 2."""


class ImportFailed(UsageError):
    """A module does not import, for `error`."""

    def __init__(self, what: str, error: BaseException) -> None:
        super().__init__(f"{what} cannot be imported:\n{users_traceback(error)}")
        self.error = error


class ArgumentUnknown(UsageError):
    """Nothing says what an argument is; `why` tells it without advice for the command line."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(f"{why}; {advice}")
        self.why = why


@dataclass(frozen=True)
class NamedTarget:
    """A function, plain or compiled, and the arguments of a call."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def declare(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Declares the arguments that name a function and its arguments; `optional`: there may be none."""
    nargs = "?" if optional else None
    complete_target(
        parser.add_argument(
            "target", nargs=nargs, metavar="TARGET", help="module:function or path/file.py::function"
        )
    )
    parser.add_argument(
        "--args",
        metavar="EXPRESSIONS",
        help="the arguments, evaluated in the module, such as \"spec('f64[3]'), 2\"",
    )
    parser.add_argument(
        "--arg",
        metavar="NAME=WHAT",
        action="append",
        default=[],
        help="an argument: a type, f32[32,784], or an expression",
    )
    parser.add_argument(
        "--dim",
        metavar="NAME=SIZE",
        action="append",
        default=[],
        help="the size of a named dimension of an annotation",
    )


def target_from(options: argparse.Namespace) -> NamedTarget:
    """The function that the options name, and its arguments."""
    found = find(options.target)
    function = found.function
    if options.args is not None:
        if options.arg or options.dim:
            raise UsageError("give the arguments by --args, or by --arg and --dim, not by both")
        args, kwargs = _evaluate(options.args, found.module, "--args", _CALL)
    else:
        sizes = dimensions(options.dim)
        given = _pairs(options.arg, "--arg", "x=f32[3]")
        refuse_unknown(
            sizes, dimensions_of(function, found.owner).union(*map(_dimensions_in, given.values()))
        )
        instance = instance_argument(function, found.owner, sizes, given)
        named = {name: _argument(name, text, sizes, found.module) for name, text in given.items()}
        args, kwargs = from_annotations(function, sizes, {**instance, **named})
    if isinstance(function, functools.partial) and isinstance(
        function.func, CompiledFunction | BoundFunction
    ):
        args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
        function = function.func
    return NamedTarget(options.target, function, args, kwargs)


# ---------------------------------------------------------------- the function


class Found(NamedTuple):
    """A function, the module that it is written in, and the class where it needs an instance of it."""

    function: Callable[..., Any]
    module: ModuleType
    owner: type | None


def find(target: str) -> Found:
    """The function of a target."""
    place, separator, name = target.partition("::")
    if separator:
        module = module_at(Path(place))
    else:
        place, separator, name = target.partition(":")
        if not separator:
            raise UsageError(_without_function(target))
        if Path(place).is_file():
            raise UsageError(f"a function of a file is named by two colons: {place}::{name}")
        module = _imported(lambda: importlib.import_module(place), place)
    found: Any = module
    owner = None
    for i, part in enumerate(name.split(".")):
        inner = getattr(found, part, None)
        if inner is None:
            where = ".".join([place, *name.split(".")[:i]])
            raise UsageError(f"there is no `{part}` in {where}{_functions_like(part, found)}")
        is_method = isinstance(found, type) and needs_instance(inspect.getattr_static(found, part))
        owner = found if is_method else None
        found = inner
    if not callable(found) or isinstance(found, type):
        kind = (
            "a class: name one of its methods"
            if isinstance(found, type)
            else f"of type {type(found).__name__}"
        )
        raise UsageError(f"`{name}` of {place} is no function but {kind}")
    if isinstance(found, BuiltinFunctionType):
        raise UsageError(f"`{name}` of {place} is written in C: there is no Python source to explain")
    return Found(found, module, owner)


def _functions_like(name: str, holder: Any) -> str:
    """Which functions and classes a module defines, or a class has, that are called nearly so; where none is, the first."""
    names = [n for n in dir(holder) if not n.startswith("_") and callable(getattr(holder, n, None))]
    if isinstance(holder, ModuleType):
        names = [n for n in names if getattr(getattr(holder, n), "__module__", None) == holder.__name__]
    return _nearest(name, names) or _first([f"`{n}`" for n in names])


def _first(names: Sequence[str]) -> str:
    """What there is, of many the first."""
    further = f", and {len(names) - 3} more" if len(names) > 3 else ""
    return f"; there is {', '.join(names[:3])}{further}" if names else ""


def _without_function(target: str) -> str:
    """What to write in place of a target that names no function: one of the file, where it is one."""
    path = Path(target)
    if not path.is_file():
        return f"{target!r} is neither module:function nor path/file.py::function"
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return f"{target!r} names a file and no function in it"
    names = [f"{target}::{node.name}" for node in body if isinstance(node, ast.FunctionDef)]
    return f"{target!r} names a file and no function in it{_first(names)}"


def needs_instance(member: Any) -> bool:
    """Whether what stands in a class under a name is a method, plain or compiled, that needs an instance."""
    if not issubclass(type(member), CompiledFunction | FunctionType):
        return False
    wrapped = member.__wrapped__ if issubclass(type(member), CompiledFunction) else member
    return not issubclass(type(wrapped), staticmethod | classmethod)


def module_at(path: Path) -> ModuleType:
    """The module that a file holds, imported as Python imports it: by its name, from the folder above its package."""
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}{_nearest(path.name, os.listdir(path.parent) if path.parent.is_dir() else [])}"
        )
    path = path.resolve()
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__":
        parts.pop()
    name = ".".join(parts)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

    def load() -> ModuleType:
        known = sys.modules.get(name)
        if known is not None and getattr(known, "__file__", None) == str(path):
            return known
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise UsageError(f"{path} is no Python file")
        if "." in name:
            return importlib.import_module(name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    return _imported(load, str(path))


def _imported(load: Callable[[], ModuleType], what: str) -> ModuleType:
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout is for the answer
            return load()
    except UsageError:
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise ImportFailed(what, error) from None


def users_traceback(error: BaseException) -> str:
    """The traceback of an exception without the frames of pystage and of Python's import system."""
    inner: TracebackType | None = error.__traceback__
    while inner is not None and is_ours(inner.tb_frame.f_code.co_filename):
        inner = inner.tb_next
    return "".join(traceback.format_exception(type(error), error, inner)).rstrip()


def is_ours(file: str) -> bool:
    """Whether a file is pystage's, or of Python's import system, and not the user's."""
    return is_own_file(file) or file.startswith("<frozen importlib") or file == importlib.__file__


def _nearest(name: str, names: Collection[str], likeness: float = 0.6) -> str:
    near = [n for n in difflib.get_close_matches(name, names, 3, likeness) if not n.startswith("__")]
    return f"; there is {', '.join(f'`{n}`' for n in near)}" if near else ""


# ---------------------------------------------------------------- its arguments


def from_annotations(
    function: Callable[..., Any], sizes: Mapping[str, int], given: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: those given, the others by their annotations; none for those that have defaults."""
    target = written_target(function)
    parameters = list(inspect.signature(target.fn).parameters.values())[len(target.args) :]
    annotations = annotations_of(target.fn)
    unknown = [name for name in given if name not in [p.name for p in parameters]]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        near = _nearest(unknown[0], [p.name for p in parameters])
        raise UsageError(f"the function has no parameter `{unknown[0]}`{near}")
    args: list[Any] = []
    kwargs: dict[str, Any] = {name: given[name] for name in unknown}
    positional = True
    for parameter in parameters:
        if (
            parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            or parameter.name in target.kwargs
        ):
            if parameter.name in given:
                raise UsageError(f"`{parameter.name}` takes any number of arguments: give all by --args")
            positional = False
            continue
        if parameter.name in given:
            value = given[parameter.name]
        elif parameter.default is not parameter.empty:
            positional = False
            continue
        else:
            value = _by_annotation(parameter.name, annotations.get(parameter.name, parameter.empty), sizes)
        if positional and parameter.kind is not parameter.KEYWORD_ONLY:
            args.append(value)
        else:
            kwargs[parameter.name] = value
    return tuple(args), kwargs


def written_target(function: Callable[..., Any]) -> Target:
    """The plain function that the user wrote, with its annotations, and the arguments that come before those of a call.

    `ArgumentUnknown` for what has arguments that the user's function does not have.
    """
    target = target_of(as_written(function))
    code = getattr(target.fn, "__code__", None)
    if code is not None and is_ours(code.co_filename):
        transform = target.fn.__qualname__.partition(".")[0]
        why = f"the annotations of a function do not say what the arguments of its `pystage.{transform}` are"
        raise ArgumentUnknown(why, "give all by --args")
    return target


def instance_argument(
    function: Callable[..., Any], owner: type | None, sizes: Mapping[str, int], given: Collection[str] = ()
) -> dict[str, Any]:
    """The instance of `owner` that a method needs, under the parameter's name, made of the annotated fields of the class.

    None is made for a function that needs none, or for which one is given.
    """
    if owner is None:
        return {}
    name = next(iter(inspect.signature(written_target(function).fn).parameters), None)
    if name is None or name in given:
        return {}
    try:
        return {name: instance_of(owner, sizes)}
    except UnknownSize as error:
        raise ArgumentUnknown(f"the argument `{name}`: {error}", _give_size(error)) from None
    except NotAnArgument as error:
        advice = f"give it by --arg {name}='…', an expression, or all by --args"
        raise ArgumentUnknown(f"the method needs an instance: {error}", advice) from None


def dimensions_of(function: Callable[..., Any], owner: type | None) -> set[str]:
    """The names of dimensions in the annotations of a function, and of the class whose instance it needs."""
    annotations = [*annotations_of(written_target(function).fn).values(), owner]
    return set[str]().union(*map(dimensions_in, annotations))


def refuse_unknown(sizes: Iterable[str], names: Collection[str]) -> None:
    """Refuses a size for a dimension that has none of these names."""
    for name in sizes:
        if name not in names:
            near = _nearest(name, names, likeness=0.0)
            raise UsageError(f"--dim {name}: no annotation has a dimension `{name}`{near}")


def _dimensions_in(text: str) -> set[str]:
    """The names of dimensions in what `--arg` says, if that is a type."""
    try:
        return array_of_text(text).names
    except NotAnArgument:
        return set()


def _give_size(error: UnknownSize) -> str:
    return f"give it by --dim {error.name}=32"


def _by_annotation(name: str, annotation: Any, sizes: Mapping[str, int]) -> Any:
    if annotation is inspect.Parameter.empty:
        why = f"nothing says what the argument `{name}` is"
        advice = f"give it by --arg {name}='f32[…]', a number by --arg {name}=5, or all by --args"
        raise ArgumentUnknown(why, f'{advice}, or annotate it: `{name}: Annotated[np.ndarray, "f32[n, 3]"]`')
    is_text = annotation in (str, "str")
    example = "True" if annotation is bool else "'\"…\"'" if is_text else "'f32[…]' or a value"
    advice = f"give it by --arg {name}={example}, or all by --args"
    try:
        return argument_of(annotation, sizes)
    except UnknownSize as error:
        raise ArgumentUnknown(f"the argument `{name}`: {error}", _give_size(error)) from None
    except NotAnArgument as error:
        raise ArgumentUnknown(f"the argument `{name}`: {error}", advice) from None


def _argument(name: str, text: str, sizes: Mapping[str, int], module: ModuleType) -> Any:
    try:
        return array_of(text, sizes)
    except UnknownSize as error:
        raise UsageError(f"--arg {name}: {error}; {_give_size(error)}") from None
    except NotAnArgument:
        _refuse_misspelt_type(name, text, module)
        value = _evaluate(text, module, f"--arg {name}")
        return (
            _by_annotation(name, value, sizes)
            if isinstance(value, type) and value in (bool, *NUMBERS)
            else value
        )


def _refuse_misspelt_type(name: str, text: str, module: ModuleType) -> None:
    """Refuses what has the form of a type with sizes, and begins with a name that is none of a type or of the module."""
    kind = named_type(text)
    if kind is not None and not {kind} & {*ELEMENT_TYPES, *vars(module), *vars(builtins)}:
        near = _nearest(kind, ELEMENT_TYPES)
        raise UsageError(f"--arg {name}={text}: there is no element type `{kind}`{near}")


_CALL = "_pystage_arguments("


def _evaluate(text: str, module: ModuleType, option: str, call: str = "") -> Any:
    """The value of an expression in the module, where `spec` is `pystage.spec` if it is nothing of the module's own.

    After `call`, the arguments of a call as positional and keyword ones.
    """
    namespace = {"spec": spec, **vars(module), "_pystage_arguments": lambda *args, **kwargs: (args, kwargs)}
    try:
        code = compile(f"{call}{text})" if call else text, "<expression>", "eval")
    except SyntaxError as error:
        column = min(max((error.offset or 1) - 1 - len(call), 0), len(text))
        raise UsageError(f"{option}: {error.msg}\n  {text}\n  {' ' * column}^") from None
    try:
        return eval(code, namespace)
    except (Exception, SystemExit) as error:
        shown = "".join(traceback.format_exception_only(error)).strip()
        raise UsageError(f"{option} {text}: in {module.__name__} this raises {shown}") from None


def dimensions(given: list[str]) -> dict[str, int]:
    """The sizes that `--dim` gives."""
    found = {}
    for name, size in _pairs(given, "--dim", "batch=32").items():
        if not size.isdecimal():
            raise UsageError(f"--dim {name}={size}: a size is a number that is not negative")
        found[name] = int(size)
        if found[name] >= 1 << 63:
            raise UsageError(f"--dim {name}={size}: no array is so long")
    return found


def _pairs(given: list[str], option: str, example: str) -> dict[str, str]:
    found = {}
    for text in given:
        name, separator, what = text.partition("=")
        if not separator or not name.strip():
            raise UsageError(f"{option} {text}: write it as {option} {example}")
        if name.strip() in found:
            raise UsageError(f"{option} {name.strip()} is given twice")
        found[name.strip()] = what.strip()
    return found


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a compiled function compiles."""
    if isinstance(function, CompiledFunction | BoundFunction):
        compiled: Callable[..., Any] = function.__pystage_function__
        return compiled
    return function


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the parameters as the user wrote them: of a derivative, what it is one of."""
    while True:
        match function:
            case CompiledFunction() | BoundFunction():
                function = function.transformed or function.__pystage_function__
            case custom_vjp():
                function = function.fun
            case functools.partial(func=CompiledFunction() | BoundFunction() as inner):
                return functools.partial(as_written(inner), *function.args, **function.keywords)
            case _:
                return function
