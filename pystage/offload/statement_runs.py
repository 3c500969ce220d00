"""Outlining of a run of statements: its live-in and live-out variables, and how control leaves it.

In: consecutive statements of a block of a user's function. Out: a `StatementRun`, or the reason why they cannot be
outlined. The text of the outlined function is the user's own, line for line and column for column; only its
jumps become returns.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from types import FunctionType

from ..compiler.frontend.build import build_by_statement
from ..compiler.frontend.definite_assignment import Assignment, mark_assigned
from ..compiler.frontend.source import give_source
from ..records import dataclass
from .flow import EMPTY, Set, Targets, VariableLiveness
from .names import CONSUMERS, FUNCTIONS, names_in, parameters
from .source import LOOPS, Source, parse_definition

_WORKING = (*LOOPS, ast.Call, ast.BinOp, ast.AugAssign, ast.Subscript)
_WATCHING = frozenset(
    [
        "locals",
        "vars",
        "dir",
        "exec",
        "eval",
        "currentframe",
        "_getframe",
        "seterr",
        "seterrcall",
        "set_printoptions",
        "simplefilter",
        "filterwarnings",
        "resetwarnings",
    ]
)
"""Calls that see the variables of the function that makes them, or change how the rest of it runs."""
_SETTINGS = frozenset(["errstate", "printoptions", "catch_warnings"])


@dataclass(frozen=True, slots=True, eq=False)
class StatementRun:
    """Statements that can be outlined as a function."""

    statements: tuple[ast.stmt, ...]
    ins: tuple[str, ...]
    """The variables that it reads or hands on, in order."""
    flags: dict[str, str]
    """The variables that it may assign or not, and that are read later, each with the one that says so."""
    guards: tuple[str, ...]
    """Those of them that may not be assigned before."""
    outs: tuple[str, ...]
    """The variables that come out, flags among them."""
    jumps: tuple[ast.stmt, ...]
    """The `break`, `continue` and `return` statements that lead out of it."""
    assigned: dict[ast.stmt, Set]
    """What is certainly assigned at each of these."""
    ended: Set | None
    """What is certainly assigned where it falls through; None if it does not."""
    loops: bool
    repeated: bool
    """True if it stands in a loop of the function."""

    @property
    def hows(self) -> tuple[str, ...]:
        """The ways in which control leaves it, other than to the next statement."""
        kinds = {how_of(jump) for jump in self.jumps}
        return tuple([how for how in ("break", "continue", "return") if how in kinds])

    @property
    def falls_through(self) -> bool:
        """True if control may go on with the next statement."""
        return self.ended is not None

    @property
    def only_returns(self) -> bool:
        """True if it ends with what the function returns, whatever happens."""
        return not self.falls_through and self.hows == ("return",)

    @property
    def first_line(self) -> int:
        """The line where it begins."""
        return _first_line(self.statements[0])

    @property
    def last_line(self) -> int:
        """The line where it ends."""
        return self.statements[-1].end_lineno or self.statements[-1].lineno

    @property
    def lines(self) -> str:
        """Its lines in the file, in words."""
        first, last = self.first_line, self.last_line
        return f"line {first}" if first == last else f"lines {first} to {last}"

    @property
    def end(self) -> str:
        """The expression that it returns where it falls through; empty for nothing."""
        how = ["'next'"] if self.hows else []
        value = ["None"] if "return" in self.hows else []
        return ", ".join([*how, *value, *self._outs_where(self.ended or EMPTY)])

    def outs_at(self, jumps: Sequence[ast.stmt]) -> list[str]:
        """The live-out values at any of these jumps, as expressions."""
        return self._outs_where(frozenset.intersection(*[self.assigned[jump] for jump in jumps]))

    def _outs_where(self, assigned: Set) -> list[str]:
        """The live-out values where these are certainly assigned: the others are not read there."""
        known = assigned.union(self.ins, self.flags, self.flags.values())
        return [name if name in known else "None" for name in self.outs]


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *[d.lineno for d in decorators]])


def how_of(jump: ast.stmt) -> str:
    """The keyword of a jump."""
    return type(jump).__name__.lower()


class Variables:
    """The variables of one function: where they are assigned and read, and which nested functions see them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        node = source.node
        self.names = names_in(node.body)
        given = parameters(node)
        self.local = frozenset((self.names.binds | self.names.deleted | set(given)) - self.names.declared)
        self.watched = not _WATCHING.isdisjoint(_called(node)) or any(map(self._takes, CONSUMERS))
        self.mentions = {s: names_in([without_blocks(s)]) for s in own_statements(node.body)}
        self.shared, self.captured = self._captured(given)
        self.liveness = VariableLiveness(self.captured)
        self.liveness.block(node.body, EMPTY, Targets())
        function, self._built = build_by_statement(source.found)
        self._assignment = mark_assigned(function)
        self.global_names, self.nonlocal_names = _declarations(node)
        self._repeated = {
            inner
            for loop in own_statements(node.body)
            if isinstance(loop, ast.For | ast.While | ast.AsyncFor)
            for inner in own_statements(loop.body)
        }

    def _captured(self, given: Sequence[str]) -> tuple[Set, Set]:
        """The captured variables that may change, and all captured variables."""
        captured = (self.names.captured | self.names.rebound) & self.local
        bound = Counter(given)
        for statement, names in self.mentions.items():
            bound.update(names.binds)
            if isinstance(statement, ast.For | ast.While | ast.AsyncFor):
                bound.update(names_in([statement]).binds)
                bound.update(names_in([statement]).binds)
            for handler in getattr(statement, "handlers", ()):
                bound.update([handler.name, handler.name])
        changing = {n for n in captured if bound[n] > 1 or n in self.names.deleted}
        return frozenset(changing | (self.names.rebound & self.local)), frozenset(captured)

    def run(self, statements: Sequence[ast.stmt]) -> StatementRun | str:
        """These statements as a run, or why they cannot be outlined."""
        first, last = statements[0], statements[-1]
        before = self._assignment.before.get(first)
        if before is None:
            return "no path leads here"
        names = names_in(statements)
        shared = ((names.all & self.shared) | (names.binds & self.captured)) - self._private(statements)
        if shared:
            return f"a function inside sees `{min(shared)}` too"
        bound = frozenset(names.binds & self.local)
        targets = self.liveness.targets[first]
        if bound & targets.after_raise:
            return f"`{min(bound & targets.after_raise)}` is read where an exception is handled"
        jumps = tuple(_jumps(statements))
        inside, own = Assignment(self._assignment.variables), VariableLiveness()
        ended = inside.block([self._built[statement] for statement in statements], EMPTY)
        exposed = own.block(statements, EMPTY, Targets()) & self.local
        exits: list[tuple[Set, Set]] = [(ended, self.liveness.after[last])] if ended is not None else []
        reached = []
        for jump in jumps:
            state = inside.before.get(jump)
            if state is not None:
                reached.append(jump)
                exits.append((state, getattr(targets, f"after_{how_of(jump)}")))
        outs = bound & frozenset().union(*[live for _, live in exits])
        handed = frozenset(n for n in outs for state, live in exits if n in live and n not in state)
        fresh = frozenset(n for n in (exposed | handed) - before if not self._bound_elsewhere(n, statements))
        if fresh & exposed & handed:
            return f"`{min(fresh & exposed & handed)}` may not be assigned"
        ins = (exposed | handed) - fresh
        guards = ins - before
        if (guards or fresh & handed) and self._takes("locals"):
            return "`locals` is a variable of the program"
        flags = {name: self.fresh(f"{name}_assigned") for name in sorted(fresh & handed)}
        if not all(_can_flag(statement, flags) for statement in own_statements(statements)):
            return f"`{min(flags)}` may not be assigned"
        return StatementRun(
            tuple(statements),
            tuple(sorted(ins)),
            flags,
            tuple(sorted(guards)),
            (*sorted(outs), *flags.values()),
            tuple(reached),
            {jump: inside.before[jump] for jump in reached},
            ended,
            any(isinstance(n, LOOPS) for s in statements for n in ast.walk(s)),
            first in self._repeated,
        )

    def fresh(self, wanted: str) -> str:
        """A name that means nothing in the function."""
        while wanted in self.names.all or self._takes(wanted):
            wanted += "_"
        return wanted

    def _takes(self, name: str) -> bool:
        return name in self.local or name in self.source.fn.__globals__

    def is_builtin(self, name: str) -> bool:
        """True if the name means Python's builtin in the function."""
        return not self._takes(name)

    def _private(self, statements: Sequence[ast.stmt]) -> set[str]:
        """The variables that occur in these statements only."""
        inside = set(own_statements(statements))
        mentioned = set(parameters(self.source.node))
        for statement, names in self.mentions.items():
            if statement not in inside:
                mentioned |= names.all
        return names_in(statements).all - mentioned

    def _bound_elsewhere(self, name: str, statements: Sequence[ast.stmt]) -> bool:
        """True if the variable may be assigned before these statements run."""
        inside = set() if statements[0] in self._repeated else set(own_statements(statements))
        return any(name in names.binds for s, names in self.mentions.items() if s not in inside)

    def function_of(self, run: StatementRun, name: str) -> FunctionType:
        """The run as a plain function, whose source the front end reads as the user's."""
        text, line = self._text(run, name)
        made = self.source.make(parse_definition(text, line), {})
        give_source(made.__code__, text, line)
        return made

    def has_lines(self, statements: Sequence[ast.stmt]) -> bool:
        """True if these statements share no line with others, and there are lines before them for a header."""
        first, last = statements[0], statements[-1]
        before = self.source.line(first.lineno)[: first.col_offset].strip()
        after = self.source.line(last.end_lineno or last.lineno)[last.end_col_offset or 0 :]
        alone = not before or before.endswith(b":")
        return alone and after.partition(b"#")[0].strip() in (b"", b";") and _first_line(first) > 2

    def _text(self, run: StatementRun, name: str) -> tuple[str, int]:
        source, first = self.source, run.first_line
        lines = [source.line(n) for n in range(first, run.last_line + 1)]
        last = run.statements[-1]
        lines[-1] = lines[-1][: last.end_col_offset]
        start = run.statements[0].col_offset
        indent = bytes([c if c in b" \t" else 0x20 for c in lines[0][:start]])
        lines[0] = indent + lines[0][start:]
        if isinstance(run.statements[0], ast.If) and lines[0][start:].startswith(b"elif"):
            lines[0] = indent + b"if  " + lines[0][start + len(b"elif") :]
        if not run.only_returns:
            for number, column, cut, put in sorted([*_edits(run), *_flag_edits(run)], reverse=True):
                old = lines[number - first]
                lines[number - first] = old[:column] + put.encode() + old[column + cut :]
        if run.falls_through and run.end:
            lines.append(indent + f"return {run.end}".encode())
        bound = names_in(run.statements).binds
        declared = [
            f"{keyword} {', '.join(sorted(outside & bound))}".encode()
            for keyword, outside in (("global", self.global_names), ("nonlocal", self.nonlocal_names))
            if outside & bound
        ]
        if run.flags:
            unset = "; ".join(f"{out} = None; {flag} = False" for out, flag in run.flags.items())
            declared.append(unset.encode())
        head = [f"def {name}({', '.join(run.ins)}):".encode()]
        if declared:
            head.append(indent + b"; ".join(declared))
        return b"\n".join([*head, *lines, b""]).decode(), first - len(head)


def _edits(run: StatementRun) -> Iterator[tuple[int, int, int, str]]:
    """The edits that turn the jumps of a run into returns: line, column, bytes removed, text inserted."""
    for jump in run.jumps:
        how = how_of(jump)
        tail = "".join(f", {out}" for out in run.outs_at([jump]))
        if isinstance(jump, ast.Return) and jump.value is not None:
            yield jump.lineno, jump.col_offset + len("return"), 0, f" {how!r}, ("
            yield jump.end_lineno or 0, jump.end_col_offset or 0, 0, f"){tail}"
        else:
            value = ", None" if "return" in run.hows else ""
            yield jump.lineno, jump.col_offset, len(how), f"return {how!r}{value}{tail}"


def _flag_edits(run: StatementRun) -> Iterator[tuple[int, int, int, str]]:
    """The edits that record in a flag that a variable is assigned."""
    for statement in own_statements(run.statements):
        names = sorted(names_in([without_blocks(statement)]).binds & run.flags.keys())
        text = "; ".join(f"{run.flags[name]} = True" for name in names)
        if text and isinstance(statement, ast.For):
            yield statement.body[0].lineno, statement.body[0].col_offset, 0, f"{text}; "
        elif text:
            yield statement.end_lineno or 0, statement.end_col_offset or 0, 0, f"; {text}"


def _can_flag(statement: ast.stmt, flags: Container[str]) -> bool:
    """True if bindings of these variables by the statement can be recorded where they happen."""
    if not any(name in flags for name in names_in([without_blocks(statement)]).binds):
        return True
    if isinstance(statement, ast.For):
        return not any(True for _ in blocks_of(statement.body[0])) and not isinstance(
            statement.body[0], (*FUNCTIONS, ast.ClassDef)
        )
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)


def returns_for_jumps(run: StatementRun, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a run with its jumps as returns, as in `Variables.function_of`."""
    if run.only_returns:
        return list(statements)
    transformer = _Returns(run)
    made: list[ast.stmt] = []
    for statement in statements:
        new = transformer.visit(copy.deepcopy(statement))
        made += new if isinstance(new, list) else [new]
    if run.falls_through and run.end:
        made += _noted(run, ast.parse(f"return {run.end}").body[0], run.statements[-1])
    return made


def _noted(run: StatementRun, end: ast.stmt, place: ast.stmt) -> list[ast.stmt]:
    """The end of a run, after the flags are set from what is assigned there."""
    before = [f"{f} = {n!r} in locals(); {n} = locals().get({n!r})" for n, f in run.flags.items()]
    return [_all_at(statement, place) for statement in [*ast.parse("\n".join(before)).body, end]]


class _Returns(ast.NodeTransformer):
    def __init__(self, run: StatementRun) -> None:
        self._run = run
        self._at = {jump_key(jump): jump for jump in run.jumps}

    def _jump(self, node: ast.stmt) -> ast.stmt | list[ast.stmt]:
        origins = [self._at.get(place) for place in getattr(node, "origins", [jump_key(node)])]
        jumps = [jump for jump in origins if jump is not None]
        if not jumps:
            return node
        made = ast.parse(f"return {', '.join([repr(how_of(jumps[0])), *self._run.outs_at(jumps)])},").body[0]
        assert isinstance(made, ast.Return) and isinstance(made.value, ast.Tuple)
        noted = _noted(self._run, made, node)
        if "return" in self._run.hows:
            value = node.value if isinstance(node, ast.Return) else None
            made.value.elts.insert(1, value or ast.copy_location(ast.Constant(None), node))
        return noted

    visit_Return = visit_Break = visit_Continue = _jump

    def visit_FunctionDef(self, node: ast.stmt) -> ast.stmt:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.expr) -> ast.expr:
        return node


def jump_key(jump: ast.stmt) -> tuple[str, int, int]:
    """A key that identifies a jump of a function, in a copy too."""
    return how_of(jump), jump.lineno, jump.col_offset


def _all_at(node: ast.stmt, place: ast.stmt) -> ast.stmt:
    """The node, with all parts of it at `place`."""
    for part in ast.walk(node):
        ast.copy_location(part, place)
    return node


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement that run as a part of its function."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(statement, name, None):
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def own_statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a block that run as a part of its function, at any depth."""
    for statement in block:
        yield statement
        for inner in blocks_of(statement):
            yield from own_statements(inner)


def without_blocks(statement: ast.stmt) -> ast.stmt:
    """A compound statement without the contents of its blocks."""
    if not any(True for _ in blocks_of(statement)):
        return statement
    made = copy.copy(statement)
    for name in ("body", "orelse", "finalbody"):
        if getattr(made, name, None):
            setattr(made, name, [])
    for name in ("handlers", "cases"):
        if parts := getattr(made, name, None):
            bare = [copy.copy(part) for part in parts]
            for part in bare:
                part.body = []
            setattr(made, name, bare)
    return made


def _jumps(statements: Sequence[ast.stmt], in_loop: bool = False) -> Iterator[ast.stmt]:
    """The jumps that lead out of these statements."""
    for statement in statements:
        match statement:
            case ast.Return():
                yield statement
            case ast.Break() | ast.Continue() if not in_loop:
                yield statement
            case ast.For() | ast.AsyncFor() | ast.While():
                yield from _jumps(statement.body, True)
                yield from _jumps(statement.orelse, in_loop)
            case _:
                for block in blocks_of(statement):
                    yield from _jumps(block, in_loop)


def _declarations(node: ast.AST) -> tuple[set[str], set[str]]:
    """The names that a function declares global, and nonlocal."""
    found: tuple[set[str], set[str]] = set(), set()
    for inner in own_statements(getattr(node, "body", [])):
        if isinstance(inner, ast.Global):
            found[0].update(inner.names)
        elif isinstance(inner, ast.Nonlocal):
            found[1].update(inner.names)
    return found


def _called(node: ast.AST) -> Iterator[str]:
    """The names of what is called, `vars(x)` and `dir(x)` not among them."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = getattr(inner.func, "id", getattr(inner.func, "attr", ""))
            if not (name in ("vars", "dir") and inner.args):
                yield name


def never_cut(statement: ast.stmt) -> str | None:
    """The reason why a statement is never a part of a region; None if it may be, empty if there is nothing to say."""
    match statement:
        case ast.Global() | ast.Nonlocal() | ast.Pass():
            return ""
        case ast.Import() | ast.ImportFrom():
            return "it imports"
        case ast.ClassDef():
            return "it defines a class"
        case ast.AsyncFor() | ast.AsyncWith() | ast.AsyncFunctionDef():
            return "it is asynchronous"
    for node in _own_nodes(statement):
        match node:
            case ast.Yield() | ast.YieldFrom():
                return "it yields"
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                return "it is asynchronous"
            case ast.Name(id="super" | "__class__"):
                return "it uses the class around it"
            case ast.Delete(targets=targets) if any(isinstance(t, ast.Name) for t in targets):
                return "it deletes a variable"
            case ast.Global() | ast.Nonlocal() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return never_cut(node)
    if any(_bare_raises([statement])):
        return "it raises again what is being handled"
    return None


def sets_numpy(statement: ast.stmt) -> bool:
    """True for a `with` under which NumPy raises or warns otherwise, or prints: no program knows of that."""
    return isinstance(statement, ast.With) and any(
        getattr(node, "attr", getattr(node, "id", "")) in _SETTINGS
        for item in statement.items
        for node in ast.walk(item.context_expr)
    )


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, those of functions inside it left out; comprehensions are a part of it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)) or child is node:
            yield from _own_nodes(child)


def _bare_raises(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        if isinstance(statement, ast.Raise) and statement.exc is None:
            yield statement
        elif isinstance(statement, ast.Try | ast.TryStar):
            yield from _bare_raises([*statement.body, *statement.orelse, *statement.finalbody])
        else:
            for block in blocks_of(statement):
                yield from _bare_raises(block)


def works(statement: ast.stmt) -> bool:
    """False for a statement that only renames, jumps, raises, or evaluates a constant."""
    return not isinstance(statement, ast.Raise) and any(
        isinstance(node, _WORKING) for node in ast.walk(statement)
    )
