"""Runs stage IR on real Python objects, instruction by instruction: the front end's second opinion.

Slow and obvious. `as_python(f)` is the function that the stage IR of `f` says; a test compares it with `f`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any

from pystage.compiler.frontend import stage_function
from pystage.compiler.stage import ir

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "not": operator.not_,
    "bool": bool,
}


class WrongIR(BaseException):
    """The stage IR breaks its own rules; not an `Exception`, so that no program under test catches it."""


def as_python(function: FunctionType) -> Callable[..., Any]:
    """The callable that the stage IR of `function` describes, with the same closure, globals and defaults."""
    staged = stage_function(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    defaults = function.__defaults__ or ()
    return closure(staged, cells, function.__globals__, defaults, function.__kwdefaults__ or {})


def closure(
    function: ir.Function,
    outer: Mapping[str, CellType],
    module: dict[str, Any],
    defaults: Sequence[Any],
    kw_defaults: Mapping[str, Any],
) -> Callable[..., Any]:
    """A Python function that interprets `function`."""
    signature = signature_of(function.params, defaults, kw_defaults)
    check_returns(function)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        frame = Frame(function, outer, module)
        for name, value in bound.arguments.items():
            frame.store(name.replace("implicit0", ".0"), value)
        frame.block(function.body)
        return frame.result

    run.__name__ = function.name
    return run


def signature_of(
    params: ir.Parameters, defaults: Sequence[Any], kw_defaults: Mapping[str, Any]
) -> inspect.Signature:
    """The parameters as `inspect` has them."""
    kinds = inspect.Parameter
    ordered = [(n, kinds.POSITIONAL_ONLY) for n in params.positional_only]
    ordered += [(n, kinds.POSITIONAL_OR_KEYWORD) for n in params.positional]
    made = []
    for i, (name, kind) in enumerate(ordered):
        at = i - (len(ordered) - len(defaults))
        default = defaults[at] if at >= 0 else kinds.empty
        made.append(kinds(name.replace(".0", "implicit0"), kind, default=default))
    if params.star is not None:
        made.append(kinds(params.star, kinds.VAR_POSITIONAL))
    for name in params.keyword_only:
        made.append(kinds(name, kinds.KEYWORD_ONLY, default=kw_defaults.get(name, kinds.empty)))
    if params.double_star is not None:
        made.append(kinds(params.double_star, kinds.VAR_KEYWORD))
    return inspect.Signature(made)


def check_returns(function: ir.Function) -> None:
    """After the jumps are removed, the only `Return` is the last instruction, or the end is never reached."""

    def jumps(block: ir.Block, last_allowed: bool) -> None:
        for i, instr in enumerate(block):
            allowed = last_allowed and i == len(block) - 1
            if isinstance(instr, (ir.Break, ir.Continue)) or (isinstance(instr, ir.Return) and not allowed):
                raise WrongIR(f"{type(instr).__name__} at {instr.span}")
            for name in ("then", "orelse", "test", "body", "final"):
                inner = getattr(instr, name, None)
                if isinstance(inner, list):
                    jumps(inner, False)
            for handler in getattr(instr, "handlers", ()):
                jumps(handler.test, False)
                jumps(handler.body, False)

    jumps(function.body, True)
    if not function.body or not isinstance(function.body[-1], ir.Return):
        raise WrongIR(f"{function.qualname} does not end in a Return")


class Frame:
    """One call: temporaries, locals, cells."""

    def __init__(self, function: ir.Function, outer: Mapping[str, CellType], module: dict[str, Any]) -> None:
        self.function = function
        self.module = module
        self.temps: dict[str, Any] = {}
        self.locals: dict[str, Any] = {}
        self.cells = {name: CellType() for name in function.cells}
        self.cells.update({name: outer[name] for name in function.free})
        self.result: Any = None

    def store(self, name: str, value: Any) -> None:
        """Binds a variable of this frame."""
        if name in self.cells:
            self.cells[name].cell_contents = value
        elif name in self.function.locals:
            self.locals[name] = value
        else:
            raise WrongIR(f"{name} is not a variable of {self.function.qualname}")

    def block(self, block: ir.Block) -> None:
        for instr in block:
            self.instr(instr)

    def instr(self, instr: ir.Instr) -> None:
        t = self.temps
        match instr:
            case ir.Store(_, name, src, scope):
                if (scope is ir.StorageClass.CELL) != (
                    name in self.cells
                ) and scope is not ir.StorageClass.GLOBAL:
                    raise WrongIR(f"scope of {name}")
                if scope is ir.StorageClass.GLOBAL:
                    self.module[name] = t[src]
                else:
                    self.store(name, t[src])
            case ir.Delete():
                self.load(instr.name, instr.scope, False)
                self.delete(instr)
            case ir.SetAttr(_, obj, attr, src):
                setattr(t[obj], attr, t[src])
            case ir.DelAttr(_, obj, attr):
                delattr(t[obj], attr)
            case ir.SetItem(_, obj, index, src):
                t[obj][t[index]] = t[src]
            case ir.DelItem(_, obj, index):
                del t[obj][t[index]]
            case ir.Append(_, target, value, key):
                self.append(t[target], t[value], key)
            case ir.Unpack(_, dsts, src, star):
                self.unpack(dsts, t[src], star)
            case ir.Return(_, value):
                self.result = t[value]
            case ir.Raise(_, exc, cause):
                self.raise_(exc, cause)
            case ir.If(_, cond, then, orelse):
                self.block(then if t[cond] else orelse)
            case ir.While(_, test, cond, body):
                self.block(test)
                while t[cond]:
                    self.block(body)
                    self.block(test)
            case ir.For():
                self.for_(instr)
            case ir.With(_, manager, entered, body):
                with t[manager] as t[entered]:
                    self.block(body)
            case ir.Try():
                self.try_(instr)
            case _:
                t[instr.dst] = self.value(instr)  # type: ignore[attr-defined]

    def delete(self, instr: ir.Delete) -> None:
        match instr.scope:
            case ir.StorageClass.LOCAL:
                del self.locals[instr.name]
            case ir.StorageClass.CELL:
                del self.cells[instr.name].cell_contents
            case ir.StorageClass.GLOBAL:
                del self.module[instr.name]

    def load(self, name: str, scope: ir.StorageClass, certain: bool) -> Any:
        try:
            match scope:
                case ir.StorageClass.LOCAL:
                    if name not in self.function.locals:
                        raise WrongIR(f"{name} is not a local of {self.function.qualname}")
                    return self.locals[name]
                case ir.StorageClass.CELL:
                    return self.cells[name].cell_contents
                case ir.StorageClass.GLOBAL:
                    builtins = self.module["__builtins__"]
                    names = builtins if isinstance(builtins, dict) else vars(builtins)
                    return self.module[name] if name in self.module else names[name]
        except (KeyError, ValueError):
            if certain:
                raise WrongIR(f"{name} was said to be assigned") from None
            if scope is ir.StorageClass.LOCAL or name in self.function.cells:
                raise UnboundLocalError(name) from None
            raise NameError(name) from None

    def value(self, instr: ir.Instr) -> Any:
        t = self.temps
        match instr:
            case ir.Constant(_, _, value):
                return value
            case ir.Copy(_, _, src):
                return t[src]
            case ir.Load(_, _, name, scope, certain):
                return self.load(name, scope, certain)
            case ir.GetAttr(_, _, obj, attr):
                return getattr(t[obj], attr)
            case ir.GetItem(_, _, obj, index):
                return t[obj][t[index]]
            case ir.Call(_, _, func, args):
                return self.call(t[func], args)
            case ir.Unary(_, _, op, operand):
                return UNARY[op](t[operand])
            case ir.Binary(_, _, op, left, right):
                return BINARY[op](t[left], t[right])
            case ir.Inplace(_, _, op, left, right):
                return INPLACE[op](t[left], t[right])
            case ir.Compare(_, _, op, left, right):
                return COMPARE[op](t[left], t[right])
            case ir.Build(_, _, kind, items):
                values = [v for i in items for v in (t[i.value] if i.star else [t[i.value]])]
                return {"tuple": tuple, "list": list, "set": set}[kind.value](values)
            case ir.BuildDict(_, _, entries):
                made: dict[Any, Any] = {}
                for key, value in entries:
                    made.update(t[value] if key is None else {t[key]: t[value]})
                return made
            case ir.BuildSlice(_, _, start, stop, step):
                return slice(*(None if part is None else t[part] for part in (start, stop, step)))
            case ir.Format(_, _, value, conversion, spec):
                convert = {"": lambda v: v, "r": repr, "s": str, "a": ascii}[conversion]
                return format(convert(t[value]), "" if spec is None else t[spec])
            case ir.JoinStrings(_, _, parts):
                return "".join(t[part] for part in parts)
            case ir.MakeFunction(_, _, function, defaults, kw_defaults):
                kw = {name: t[value] for name, value in kw_defaults}
                return closure(function, self.cells, self.module, [t[d] for d in defaults], kw)
            case ir.Import(_, _, module, attr, level):
                found = __import__(module, self.module, None, [attr] if attr else None, level)
                return getattr(found, attr) if attr else found
            case ir.MatchTest():
                return self.match_test(instr)
            case ir.MatchArgs(_, _, subject, cls, position):
                if t[cls] in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
                    return t[subject]
                return getattr(t[subject], t[cls].__match_args__[position])
        raise WrongIR(f"unknown instruction {type(instr).__name__}")

    def call(self, func: Any, args: Sequence[ir.Arg]) -> Any:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for arg in args:
            value = self.temps[arg.value]
            match arg.kind:
                case ir.ArgKind.POSITIONAL:
                    positional.append(value)
                case ir.ArgKind.STAR:
                    positional.extend(value)
                case ir.ArgKind.KEYWORD:
                    keywords[arg.name] = value
                case ir.ArgKind.DOUBLE_STAR:
                    keywords.update(value)
        return func(*positional, **keywords)

    def append(self, target: Any, value: Any, key: str | None) -> None:
        if key is not None:
            target[self.temps[key]] = value
        elif isinstance(target, set):
            target.add(value)
        else:
            target.append(value)

    def unpack(self, dsts: Sequence[str], source: Any, star: int | None) -> None:
        values = list(source)
        if star is None:
            if len(values) != len(dsts):
                raise ValueError("unpack")
        else:
            if len(values) < len(dsts) - 1:
                raise ValueError("unpack")
            after = len(dsts) - star - 1
            end = len(values) - after
            values = [*values[:star], values[star:end], *values[end:]]
        self.temps.update(zip(dsts, values))

    def raise_(self, exc: str | None, cause: str | None) -> None:
        if exc is None:
            raise  # noqa: PLE0704
        if cause is None:
            raise self.temps[exc]
        raise self.temps[exc] from self.temps[cause]

    def for_(self, instr: ir.For) -> None:
        for value in self.temps[instr.iterable]:
            self.temps[instr.target] = value
            self.block(instr.body)
            if instr.until is not None and self.load(instr.until, ir.StorageClass.LOCAL, True):
                break

    def try_(self, instr: ir.Try) -> None:
        try:
            try:
                self.block(instr.body)
            except WrongIR:
                raise
            except BaseException as error:
                self.handle(instr, error)
            else:
                self.block(instr.orelse)
        finally:
            self.block(instr.final)

    def handle(self, instr: ir.Try, error: BaseException) -> None:
        for handler in instr.handlers:
            self.block(handler.test)
            if handler.kind is None or isinstance(error, self.temps[handler.kind]):
                self.temps[handler.target] = error
                self.block(handler.body)
                return
        raise error

    def match_test(self, instr: ir.MatchTest) -> bool:
        subject = self.temps[instr.subject]
        args = [self.temps[arg] for arg in instr.args]
        match instr.test:
            case ir.Test.SEQUENCE:
                if isinstance(subject, (str, bytes, bytearray)) or not isinstance(subject, Sequence):
                    return False
                return len(subject) >= instr.count if instr.at_least else len(subject) == instr.count
            case ir.Test.MAPPING:
                return isinstance(subject, Mapping) and all(key in subject for key in args)
            case ir.Test.CLASS:
                return isinstance(subject, args[0])
