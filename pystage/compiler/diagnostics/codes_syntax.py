"""PS1xx: errors of source lookup and syntax, found without values.

Titles and helps are written for someone who writes NumPy, not compilers. Every help is a rewrite that works.
"""

from __future__ import annotations

from ...records import dataclass
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class SourceNotFound(Diagnostic):
    """The function has no text: it was read from a pipe, typed at a prompt, made by `exec`, or shipped as bytecode."""

    code = "PS101"
    title = "the source of `{function}` cannot be found: {reason}"
    label = "Python says that it was defined here, but there is no text"
    help = "{remedy}"

    function: str
    reason: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class NotAPythonFunction(Diagnostic):
    """A builtin, a C function or some other callable that has no Python code."""

    code = "PS102"
    title = "`{function}` is not a Python function: it is a {kind}, which has no Python source"
    help = "wrap it in a function of your own: `def f(x): return {function}(x)`"

    function: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class SourceChanged(Diagnostic):
    """The file on disk is no longer the text that the running function was compiled from."""

    code = "PS103"
    title = "the source of `{function}` changed on disk after it was loaded"
    label = "the text here is not what Python is running"
    help = (
        "restart Python or reload the module `{module}`, so that what runs and what stands in the file agree"
    )

    function: str
    module: str


@dataclass(frozen=True, kw_only=True)
class AmbiguousLambda(Diagnostic):
    """Several lambdas on one line cannot be distinguished (Python runs without column positions)."""

    code = "PS104"
    title = "{count} lambdas stand on this line and cannot be told apart"
    label = "which of them?"
    help = "give each lambda a line of its own, or write it with `def`"

    count: int


@dataclass(frozen=True, kw_only=True)
class TooDeep(Diagnostic):
    """An expression or chain of statements nests so deep that walking it exceeds Python's stack."""

    code = "PS106"
    title = "`{function}` nests too deep to be compiled"
    label = "in this function"
    help = (
        "split the longest expression into several assignments, and replace a very long chain of `elif` by a "
        "dict look-up or a loop"
    )

    function: str


@dataclass(frozen=True, kw_only=True)
class GeneratorFunction(Diagnostic):
    """A generator that no loop goes over from its beginning on."""

    code = "PS110"
    ever = True
    title = "a generator cannot be staged: {why}"
    label = "used here"
    help = "collect the values in a list and return it: `out.append(value)` instead of `yield value`"

    why: str


@dataclass(frozen=True, kw_only=True)
class AsyncCode(Diagnostic):
    """`async def`, `async for`, `async with`, `await`."""

    code = "PS111"
    ever = False
    title = "asynchronous code cannot be staged"
    label = "`{keyword}` suspends the function while it runs"
    help = "stage a plain `def` that does the array work, and call it from the `async` function"

    keyword: str


@dataclass(frozen=True, kw_only=True)
class ClassInFunction(Diagnostic):
    """A class statement inside a staged function."""

    code = "PS112"
    ever = True
    title = "a class cannot be defined inside a staged function"
    label = "`{name}` would be a new class at every call"
    help = "move `class {name}` out of the function, to the top of the module"

    name: str


@dataclass(frozen=True, kw_only=True)
class ExceptStar(Diagnostic):
    """`try … except*` (PEP 654)."""

    code = "PS113"
    ever = True
    title = "`except*` cannot be staged"
    label = "handles exception groups"
    help = "use a plain `except`, or handle the group in the function that calls this one"


@dataclass(frozen=True, kw_only=True)
class GenericFunction(Diagnostic):
    """Type parameters (PEP 695) on a function inside a staged function."""

    code = "PS114"
    ever = True
    title = "type parameters on a function inside a staged function are not supported"
    label = "type parameters"
    help = "remove the `[…]` after the name, or move the function to the top of the module"


@dataclass(frozen=True, kw_only=True)
class TypeStatement(Diagnostic):
    """`type X = …` (PEP 695)."""

    code = "PS115"
    ever = True
    title = "a `type` statement cannot stand inside a staged function"
    label = "makes a type alias"
    help = "move it to the top of the module"


@dataclass(frozen=True, kw_only=True)
class TemplateString(Diagnostic):
    """t-strings (PEP 750)."""

    code = "PS116"
    ever = True
    title = "template strings cannot be staged"
    label = "a t-string"
    help = 'use an f-string: f"…"'


@dataclass(frozen=True, kw_only=True)
class JumpInFinally(Diagnostic):
    """`return`, `break` or `continue` that leaves a `finally` block (it would drop exceptions; PEP 765)."""

    code = "PS119"
    ever = True
    title = "`{keyword}` cannot leave a `finally` block"
    label = "would drop an exception that is on its way"
    help = "set a variable in the `finally` block, and put the `{keyword}` after the `try` statement"

    keyword: str


@dataclass(frozen=True, kw_only=True)
class UnsupportedImport(Diagnostic):
    """`lazy import` (PEP 810) and `from m import *` inside a function."""

    code = "PS120"
    title = "`{form}` cannot be staged"
    label = "what it binds is not known here"
    help = "import by name at the top of the module: `import module` or `from module import name`"

    form: str


@dataclass(frozen=True, kw_only=True)
class UnpackingComprehension(Diagnostic):
    """Comprehensions that unpack: `[*xs for xs in xss]` (PEP 798)."""

    code = "PS121"
    ever = True
    title = "a comprehension that unpacks with a star cannot be staged"
    label = "unpacks here"
    help = "use two loops: `[x for xs in xss for x in xs]`, or `{{k: v for d in ds for k, v in d.items()}}`"


@dataclass(frozen=True, kw_only=True)
class DoesNotImport(Diagnostic):
    """A file that `pystage check` cannot import, so that nothing in it is checked."""

    code = "PS122"
    title = "{file} cannot be imported: {error}"
    label = "the import ends here"
    help = "mend the file, or run the command where the modules that it imports are installed"

    file: str
    error: str


@dataclass(frozen=True, kw_only=True)
class IgnoresNothing(Diagnostic):
    """A comment `# pystage: ignore` on a line on which there is no such problem (`pystage check`)."""

    code = "PS123"
    title = "this comment ignores nothing: there is no {problem} here"
    label = "nothing to ignore"
    help = "take the comment out"

    problem: str


@dataclass(frozen=True, kw_only=True)
class UnknownSyntax(Diagnostic):
    """A node of the syntax tree that this version of pystage has never heard of."""

    code = "PS199"
    ever = True
    title = "this syntax ({node}) is not known to pystage"
    label = "here"
    help = "write it with older syntax, and report this so that it can be added"

    node: str
