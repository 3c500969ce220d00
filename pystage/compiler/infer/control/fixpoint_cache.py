"""Fixpoints of inner loops from earlier passes of the loops around: the passes of an inner loop begin with them.

So the passes of nested loops add up. Without it each pass of a loop would double those of the loops in it, since the
first pass over a body only finds what it stores into.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ... import limits
from ...hlo.ir import Value
from ...values.identity import SOME_OBJECT, Identity
from ...values.lattice import Abstract, Unknown
from ...values.slots import Slot
from ...values.state import ERROR, Content
from ...values.walk import cells_of, nodes, rebuild, values_of
from ..core.engine import Engine
from ..state.loop import Loop
from ..state.merged import aliases_of
from ..state.phi import Placeholder, placeholder_for
from ..state.structural_equality import same_template
from .join import Join, LoopHead, Merge

Path = tuple[Hashable, ...]


def carried_earlier(engine: Engine, loop: Loop) -> dict[Slot, Content]:
    """Templates of what the loop carried in an earlier inference with similar contents on entry."""
    known = {} if loop.instruction is None else engine.loops.settled.get(loop.instruction, {})
    templates: dict[Slot, Content] = {}
    for slot, path in _paths(engine, loop, known).items() if known else ():
        earlier = known.get(slot) or known.get(path)
        template = earlier and _carried_again(engine, loop, engine.state.slots[slot], *earlier)
        if template is not None:
            templates[slot] = template
    return templates


def note_carried(
    engine: Engine, loop: Loop, templates: dict[Slot, Content], before: dict[Slot, Content]
) -> None:
    """Keeps the templates of what the loop carries and that existed before it, for its next inference.

    What has no type is not kept: a loop whose first trip is peeled then gives it one.
    """
    carried = [
        slot
        for slot, template in templates.items()
        if slot != ERROR and slot in before and not aliases_of(template) and _is_settled(template)
    ]
    if loop.instruction is None or not carried:
        return
    known = engine.loops.settled.setdefault(loop.instruction, {})
    paths = _paths(engine, loop, carried)
    for slot in carried:
        known[slot] = known[paths.get(slot, slot)] = before[slot], templates[slot]


def _is_settled(template: Content) -> bool:
    return not any(isinstance(node, Unknown) for node in nodes(template))


def _paths(engine: Engine, loop: Loop, numbers: Iterable[Hashable]) -> dict[Slot, Path]:
    """The variables of the loop's frame and the cells that they reach, each with its path (a name, and the number of the
    reference in each cell on the way), and the cells with these numbers. None is a cell of the callers' that an open callee
    is not given: its summary would use what that cell held at its first call.
    """
    slots = engine.state.slots
    found: dict[Slot, Path] = {}
    names = [slot for slot in slots if isinstance(slot, tuple) and slot[0] == loop.frame]
    open_: list[tuple[Slot, Path]] = [(name, (name[1],)) for name in names]
    while open_:
        deeper: list[tuple[Slot, Path]] = []
        for slot, path in open_:
            if slot not in found and slot in slots:
                found[slot] = path
                if len(path) < limits.CELL_PATH:
                    deeper += [(inner, (*path, i)) for i, inner in enumerate(cells_of(slots[slot]))]
        open_ = deeper
    for number in numbers:
        if isinstance(number, int) and number in slots and engine.callees.reaches(number):
            found.setdefault(number, (number,))
    return found


def _carried_again(
    engine: Engine, loop: Loop, found: Content, entry: Content, template: Content
) -> Content | None:
    """A template for `found` before a loop, if the loop once carried `template` with `entry` before it.

    It covers both, with placeholders where the old template has them. None where the loop begins with what is neither like
    that template nor like that entry.
    """
    if aliases_of(found):
        return None
    old, now = values_of(template), values_of(found)
    inner, cells = cells_of(template), cells_of(found)
    same = type(found) is type(template) and len(inner) == len(cells)
    if same and [v.type for v in old] == [v.type for v in now]:
        each, renamed = iter(now), dict(zip(inner, cells, strict=True))
        template = rebuild(template, lambda v: _placeholder_or(v, next(each)), lambda c: renamed.get(c, c))
        return _covering(engine, loop, found, template)
    if inner != cells or not _objects(template) <= {SOME_OBJECT, *_objects(found)}:
        return None
    again = all(isinstance(v, Placeholder) for v in old) and _differ_in_values(entry, found)
    return rebuild(template, placeholder_for) if again else None


def _covering(engine: Engine, loop: Loop, a: Content, b: Content) -> Content | None:
    """The template of both; None where they have none in common."""
    head = LoopHead(trips=loop.trips, expected=loop.expected)
    join = Join(engine.state, Merge(loop=head, capacity=engine.capacity))
    if isinstance(a, Abstract) and isinstance(b, Abstract):
        joined: Content = join.join(a, b)
    else:
        join.cell(0, a, b)
        joined = join.entries[0][0]
    return None if join.conflicts.found or join.demands.found else joined


def _placeholder_or(value: Value, found: Value) -> Value:
    """A new placeholder for a placeholder; for another value its present counterpart."""
    return Placeholder(value.type) if isinstance(value, Placeholder) else found


def _objects(content: Content) -> set[Identity]:
    """The arrays that a value may hold."""
    found: set[Identity] = set()

    def note(each: Identity) -> Identity:
        found.add(each)
        return each

    rebuild(content, lambda value: value, object=note, view=note)
    return found


def _differ_in_values(a: Content, b: Content) -> bool:
    """True for contents of one structure with values of the same types."""
    return same_template(rebuild(a, placeholder_for), rebuild(b, placeholder_for))
