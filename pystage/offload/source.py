"""The syntax tree of a plain function with its source locations, and functions compiled from pieces of it.

In: a Python function with source. Out: a `Source`; `make` compiles a definition in the place of the function: same file
and lines, same globals, same closure variables, same class for `__names`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

from ..compiler.frontend.build import class_of
from ..compiler.frontend.code_equality import nested_codes
from ..compiler.frontend.errors import FrontendError
from ..compiler.frontend.source import FunctionSource, find_source
from ..compiler.policy import is_library_file
from ..records import dataclass

_FUTURE_FLAGS = 0x1FE0000
_HIDDEN = "_" * 8
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function, its definition, and the text of its lines."""

    fn: FunctionType
    node: Definition
    found: FunctionSource

    @property
    def file(self) -> str:
        """The file that defines the function."""
        return self.found.file

    @property
    def lines(self) -> tuple[int, int]:
        """The first line of the definition, and the last one."""
        return self.found.line, self.found.line + len(self.found.lines) - 1

    @property
    def loops(self) -> bool:
        """True if the function holds a loop, or calls others of the user's that may."""
        return any(isinstance(n, LOOPS) for n in ast.walk(self.node)) or calls_users(self.fn)

    def line(self, number: int) -> bytes:
        """The text of a line of the file, encoded as `ast` counts its columns."""
        return self.found.lines[number - self.found.line].rstrip("\n").encode()

    def make(self, node: Definition, given: Mapping[str, Any]) -> FunctionType:
        """A function of this definition; `given` are variables that it sees besides those of the function."""
        fn = self.fn
        lines = ["def outer():"]
        lines += [f" {name} = None" for name in dict.fromkeys([*fn.__code__.co_freevars, *given])]
        cls = class_of(fn.__code__.co_qualname)
        # Leading underscores do not count where `__names` are mangled; the program must not see the wrapper.
        lines += [f" class {_HIDDEN}{cls}:", "  pass"] if cls else [" pass"]
        module = ast.parse("\n".join(lines))
        block: Any = module.body[0]
        block = block.body[-1] if cls else block
        block.body[-1] = named = copy.copy(node)
        named.name = _HIDDEN
        flags = fn.__code__.co_flags & _FUTURE_FLAGS
        code = compile(module, self.file, "exec", flags=flags, dont_inherit=True)
        return self.function_of(_code_named(code, _HIDDEN), given)

    def function_of(self, code: CodeType, given: Mapping[str, Any]) -> FunctionType:
        """A function with this code, under the name of the user's function and with its variables."""
        fn = self.fn
        around = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        cells = [CellType(given[n]) if n in given else around[n] for n in code.co_freevars]
        code = code.replace(co_name=fn.__code__.co_name, co_qualname=fn.__code__.co_qualname)
        return FunctionType(code, fn.__globals__, fn.__name__, None, tuple(cells))


def source_of(fn: Any) -> Source | None:
    """The source of a Python function; None where it has none that can be trusted, and for a lambda."""
    if not isinstance(fn, FunctionType):
        return None
    try:
        found = find_source(fn)
    except (FrontendError, RecursionError):
        return None
    return None if isinstance(found.node, ast.Lambda) else Source(fn, found.node, found)


def is_users(fn: object) -> bool:
    """True for a Python function that belongs neither to an installed package nor to Python."""
    return isinstance(fn, FunctionType) and not is_library_file(fn.__code__.co_filename)


def calls_users(fn: FunctionType) -> bool:
    """True if a function mentions others of the user's, in which loops may be."""
    return any(is_users(fn.__globals__.get(name)) for name in fn.__code__.co_names)


def parse_definition(text: str, line: int) -> ast.FunctionDef:
    """The definition in a text that begins at this line of a file."""
    node = ast.parse("\n" * (line - 1) + text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _code_named(module: CodeType, name: str) -> CodeType:
    """The outermost code of this name inside `outer`."""
    outer = next(nested_codes(module))
    inner = [c for c in outer.co_consts if isinstance(c, CodeType)]
    while inner:
        for code in inner:
            if code.co_name == name and code.co_flags & 0x01:  # optimised: a function, no class body
                return code
        inner = [c for code in inner for c in code.co_consts if isinstance(c, CodeType)]
    raise AssertionError(f"internal error: no code of `{name}`")
