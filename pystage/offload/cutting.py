"""The cut of a function for one kind of call: staged regions, and a residual program that stays in Python.

In: a function's `Variables`, and the statements that are refused, as they are found. Out: the residual program, as a
function and as text, and the reason for each statement that stays in Python.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.span import Span
from .blame import Reason, blamed
from .source import is_users, parse_definition
from .statement_runs import (
    StatementRun,
    Variables,
    blocks_of,
    how_of,
    jump_key,
    never_cut,
    own_statements,
    returns_for_jumps,
    sets_numpy,
    works,
)

MakeRegion = Callable[["Cutting", StatementRun, str], Any]
Ends = tuple[ast.stmt, ast.stmt]


class Cutting:
    """The state of the cut, which is refined whenever something is refused."""

    def __init__(self, variables: Variables, make_region: MakeRegion, callees: Any) -> None:
        self.variables = variables
        self.stays: dict[ast.stmt, Reason] = {}
        self.version = 0
        self.regions: dict[Ends, Any] = {}
        self.names = _Fresh(variables)
        self.callees_found: set[Any] = set()
        """The functions of the user's that it has called."""
        self._staged: dict[StatementRun | None, bool] = {}
        """Whether the residual program of the function, or of a run, calls regions that may be staged."""
        self._splits: set[ast.stmt] = set()
        self._dissolved: set[ast.stmt] = set()
        self._runs: dict[Ends, StatementRun | str] = {}
        self._make_region = make_region
        self._callees = callees
        self._programs: dict[StatementRun | None, tuple[int, FunctionType]] = {}
        self._body = variables.source.node.body
        self.plain: set[ast.stmt] = set()
        """Statements whose calls are left as they are."""
        for statement in own_statements(self._body):
            why = "the function may look at its variables" if variables.watched else never_cut(statement)
            if why is None and statement in self.plain:
                why = ""
            if why is not None:
                self.stays[statement] = Reason(why)
            if sets_numpy(statement):
                self.stays[statement] = Reason("it changes what NumPy reports")
                self.plain.update(own_statements([statement]))

    # -- what is found out

    def refine(self, diagnostics: Sequence[Diagnostic], run: StatementRun | None = None) -> None:
        """Refines the cut by the diagnostics of the run, or of the whole function."""
        statements = self._body if run is None else run.statements
        found = blamed(diagnostics, self.variables, statements)
        found = {statement: reason for statement, reason in found.items() if statement not in self.stays}
        if not found and run is not None:
            first = diagnostics[0]
            found = self._split(run, Reason(f"{first.code}: {first.headline}", first))
        self.stays.update(found)
        self.version += 1

    def _split(self, run: StatementRun, reason: Reason) -> dict[ast.stmt, Reason]:
        """Splits a run without a statement to blame: into its statements, or the blocks of the only one."""
        if len(run.statements) > 1:
            self._splits.update(run.statements)
            return {}
        return {run.statements[0]: reason}

    @property
    def has_regions(self) -> bool:
        """True if something in the function itself may be staged."""
        return not self._staged or any(self._staged.values())

    def dissolve(self, run: StatementRun) -> None:
        """Makes the run a part of the residual program from the next call on."""
        self._dissolved.update(run.statements)
        self.version += 1

    # -- the cut

    def _pieces(self, block: Sequence[ast.stmt]) -> Iterator[ast.stmt | StatementRun]:
        """The regions of a block, and the statements between them."""
        group: list[ast.stmt] = []
        for statement in block:
            if self._stays(statement):
                yield from self._partition(group)
                yield statement
                group = []
            else:
                if statement in self._splits:
                    yield from self._partition(group)
                    group = []
                group.append(statement)
        yield from self._partition(group)

    def _stays(self, statement: ast.stmt) -> bool:
        return statement in self._dissolved or any(s in self.stays for s in own_statements([statement]))

    def _partition(self, group: Sequence[ast.stmt]) -> Iterator[ast.stmt | StatementRun]:
        """The longest runs of a group, from its beginning."""
        i = 0
        while i < len(group):
            for j in range(len(group), i, -1):
                if works(group[i]) and (run := self._run(group[i:j])) is not None:
                    yield run
                    i = j
                    break
            else:
                yield group[i]
                i += 1

    def _run(self, statements: Sequence[ast.stmt]) -> StatementRun | None:
        ends = statements[0], statements[-1]
        found = self._runs.get(ends)
        if found is None:
            has_room = self.variables.has_lines(statements)
            found = self.variables.run(statements) if has_room else "it shares its line"
            self._runs[ends] = found
        return found if isinstance(found, StatementRun) else None

    def region(self, run: StatementRun) -> Any:
        """The region of a run; the same one as long as the cut of the run does not change."""
        ends = run.statements[0], run.statements[-1]
        found = self.regions.get(ends)
        if found is None:
            found = self._make_region(self, run, self.names.region())
            self.regions[ends] = found
        return found

    def calls_function(self, name: str) -> bool:
        """True if the name is that of a user function, outside of this one."""
        variables = self.variables
        if name in variables.local:
            return False
        fn = variables.source.fn
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        try:
            found = cells[name].cell_contents if name in cells else fn.__globals__.get(name)
        except ValueError:
            return False
        return is_users(found)

    # -- the residual program

    def program(self, run: StatementRun | None = None) -> FunctionType:
        """The residual program of the function, or of a run, at the present cut."""
        version, made = self._programs.get(run, (-1, None))
        if made is None or version != self.version:
            version = self.version
            source = self.variables.source
            given: dict[str, Any] = {self.names.offloaded: self._callees.offloaded(self)}
            writer = ResidualWriter(self, given)
            made = source.make(self._definition(run, writer), given)
            self._staged[run] = any(not region.is_cut for region in writer.regions)
            if run is None:
                made.__defaults__ = source.fn.__defaults__
                made.__kwdefaults__ = source.fn.__kwdefaults__
            self._programs[run] = version, made
        return made

    def text(self) -> tuple[str, list[Any]]:
        """The residual program for readers, and the regions that it calls."""
        writer = ResidualWriter(self, {}, comments=True)
        node = self._definition(None, writer)
        text = ast.unparse(ast.fix_missing_locations(node))
        return re.sub(rf"^(\s*){_COMMENT}\((.*)\)$", _comment, text, flags=re.MULTILINE), writer.regions

    def _definition(self, run: StatementRun | None, writer: ResidualWriter) -> Any:
        source = self.variables.source
        if run is None:
            node = copy.copy(source.node)
            node.decorator_list = []
            node.body = writer.block(source.node.body)
            return node
        body = returns_for_jumps(run, writer.block(run.statements))
        made = parse_definition(f"def {source.node.name}({', '.join(run.ins)}): pass", run.first_line)
        made.body = body
        names = self.variables
        for keyword, declared in ((ast.Global, names.global_names), (ast.Nonlocal, names.nonlocal_names)):
            if declared:
                made.body.insert(0, keyword(sorted(declared)))
        return ast.fix_missing_locations(made)


class _Fresh:
    """Fresh names, which the program does not use."""

    def __init__(self, variables: Variables) -> None:
        names = variables.names
        self._taken = names.all | names.declared | variables.local | set(variables.source.fn.__globals__)
        self._count = 0
        self.offloaded = self._name("offloaded")
        self.how = self._name("how")
        self.value = self._name("value")

    def _name(self, wanted: str) -> str:
        while wanted in self._taken:
            wanted += "_"
        self._taken = self._taken | {wanted}
        return wanted

    def region(self) -> str:
        """The name of the next region."""
        self._count += 1
        return self._name(f"region_{self._count}")


_COMMENT = "__comment__"


def _comment(found: re.Match[str]) -> str:
    return f"{found[1]}# {ast.literal_eval(found[2])}"


class ResidualWriter:
    """Writes residual programs. `given`: objects that the program needs, by name; `comments`: for readers."""

    def __init__(self, cutting: Cutting, given: dict[str, Any], *, comments: bool = False) -> None:
        self._cutting = cutting
        self._names = cutting.names
        self._given = given
        self._comments = comments
        self.regions: list[Any] = []

    def block(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The residual statements of a block."""
        made: list[ast.stmt] = []
        for piece in self._cutting._pieces(block):
            if isinstance(piece, StatementRun):
                made += self._call(piece)
            else:
                made += self._comment_on(piece)
                made.append(self._statement(piece))
        return made

    def _comment_on(self, statement: ast.stmt) -> list[ast.stmt]:
        reason = self._cutting.stays.get(statement)
        return self._note(f"stays: {reason.text}") if reason is not None and reason.text else []

    def _note(self, text: str) -> list[ast.stmt]:
        if not self._comments:
            return []
        text = " ".join(text.split())
        return [ast.Expr(ast.Call(ast.Name(_COMMENT, ast.Load()), [ast.Constant(text)], []))]

    def _statement(self, statement: ast.stmt) -> ast.stmt:
        """A statement that stays: its blocks are cut in turn, its calls are offloaded."""
        reason = self._cutting.stays.get(statement)
        made = copy.copy(statement)
        if any(True for _ in blocks_of(statement)):
            for name in ("body", "orelse", "finalbody"):
                if block := getattr(made, name, None):
                    setattr(made, name, self.block(block))
            for name in ("handlers", "cases"):
                if parts := getattr(made, name, None):
                    bare = [copy.copy(part) for part in parts]
                    for part in bare:
                        part.body = self.block(part.body)
                    setattr(made, name, bare)
        if statement in self._cutting.plain:
            return made
        return _Calls(self._cutting, self._names.offloaded, reason).rewritten(made)

    # -- calls of regions

    def _call(self, run: StatementRun) -> list[ast.stmt]:
        region = self._cutting.region(run)
        self._given[region.name] = region
        self.regions.append(region)
        call = self._dispatch(run, region.name)
        note = self._note(run.lines + region.remark)
        if run.guards:
            test = " and ".join(f"{name!r} in locals()" for name in run.guards)
            checked = _parsed(f"if {test}: pass", run)[0]
            assert isinstance(checked, ast.If)
            checked.body, checked.orelse = call, copy.deepcopy(list(run.statements))
            call = [checked]
        return [*note, *call]

    def _dispatch(self, run: StatementRun, name: str) -> list[ast.stmt]:
        how, value = self._names.how, self._names.value
        call = f"{name}({', '.join(run.ins)})"
        if run.only_returns:
            return self._jumping(_parsed(f"return {call}", run), run)
        targets = [*([how] if run.hows else []), *([value] if "return" in run.hows else []), *run.outs]
        made = _parsed(f"{', '.join(targets)} = {call}" if targets else call, run)
        for out, flag in run.flags.items():
            made += _parsed(f"if not {flag}:\n    del {out}", run)
        for kind in run.hows:
            jump = f"return {value}" if kind == "return" else kind
            made += self._jumping(_parsed(f"if {how} == {kind!r}:\n    {jump}", run), run)
        return made

    def _jumping(self, made: list[ast.stmt], run: StatementRun) -> list[ast.stmt]:
        """The jumps in these statements, as those of the user that they represent."""
        for statement in own_statements(made):
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                how = how_of(statement)
                statement.origins = [jump_key(j) for j in run.jumps if how_of(j) == how]  # type: ignore[union-attr]
        return made


def _parsed(text: str, run: StatementRun) -> list[ast.stmt]:
    made = ast.parse(text).body
    for statement in made:
        for part in ast.walk(statement):
            if "lineno" in part._attributes:
                first = run.statements[0]
                ast.copy_location(part, first)
                part.end_lineno, part.end_col_offset = first.lineno, None  # type: ignore[attr-defined]
    return made


class _Calls(ast.NodeTransformer):
    """Replaces `f(x)` by `offloaded(f)(x)`, where `f` is a function of the program, or led to a refusal."""

    def __init__(self, cutting: Cutting, name: str, reason: Reason | None) -> None:
        self._cutting = cutting
        self._name = name
        self._place: Span | None = reason.call if reason is not None else None

    def rewritten(self, statement: ast.stmt) -> ast.stmt:
        """The statement with its calls rewritten, those in its blocks left alone."""
        for name, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, name, self.visit(copy.deepcopy(value)))
            elif name == "items":
                setattr(statement, name, [self.visit(copy.deepcopy(item)) for item in value])
        return statement

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if self._is_offloaded(node):
            wrapper = ast.copy_location(ast.Name(self._name, ast.Load()), node.func)
            node.func = ast.copy_location(ast.Call(wrapper, [node.func], []), node.func)
        return node

    def _is_offloaded(self, node: ast.Call) -> bool:
        place = self._place
        if place is not None and (node.lineno, node.col_offset) == (place.line, place.column):
            return isinstance(node.func, ast.Name | ast.Attribute) and getattr(node.func, "id", "") != "super"
        return isinstance(node.func, ast.Name) and self._cutting.calls_function(node.func.id)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node
