"""Def-use analysis: which operations use a value, and how often.

In: operations or regions. Out: the values that they use, or by value its users. A use inside an inner region is a use
by the operation there; `outer_users` and `last_uses` count it as a use by the operation of the outer region that holds
it. Values that nothing uses have no entry. What a callee uses is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hlo.ir import Op, Region, Value


def used_by(op: Op) -> Iterator[Value]:
    """The uses of an operation, inside its regions too."""
    yield from op.operands
    for region in op.regions:
        yield from used_in(region)


def used_in(region: Region) -> Iterator[Value]:
    """The uses of a region: of its operations, inner ones included, and then its results."""
    for op in region.walk():
        yield from op.operands
        for inner in op.regions:
            yield from inner.results
    yield from region.results


def captured(*regions: Region) -> list[Value]:
    """The values that regions use and do not define, each once, in the order of their first use."""
    defined: set[Value] = set()
    for region in regions:
        defined.update(region.params)
        for op in region.walk():
            defined.update(op.results)
            for inner in op.regions:
                defined.update(inner.params)
    return [v for v in dict.fromkeys(v for region in regions for v in used_in(region)) if v not in defined]


class DefUse:
    """The users of every value that regions use, inner regions included.

    A user is an operation, once for each operand that the value is, or a region of which it is a result.
    """

    def __init__(self, *regions: Region) -> None:
        self._users: dict[Value, list[Op | Region]] = {}
        for region in regions:
            self.add(region)

    def add(self, region: Region) -> None:
        """Adds the uses in a region."""
        users = self._users
        for op in region.ops:
            for value in op.operands:
                users.setdefault(value, []).append(op)
            for inner in op.regions:
                self.add(inner)
        for value in region.results:
            users.setdefault(value, []).append(region)

    def users(self, value: Value) -> list[Op | Region]:
        """The users of a value."""
        return self._users.get(value, [])

    def count(self, value: Value) -> int:
        """How often a value is used."""
        return len(self._users.get(value, ()))

    def __contains__(self, value: Value) -> bool:
        return value in self._users


def outer_users(region: Region) -> dict[Value, list[Op]]:
    """By value, the operations of the region itself that use it, inside their regions too; each once, in order."""
    users: dict[Value, list[Op]] = {}
    for op in region.ops:
        for value in dict.fromkeys(used_by(op)):
            users.setdefault(value, []).append(op)
    return users


def last_uses(region: Region) -> dict[Value, int]:
    """By value, the index of its last user in the region; for a result, the end of the region."""
    last: dict[Value, int] = {}
    for place, op in enumerate(region.ops):
        for value in used_by(op):
            last[value] = place
    last.update(dict.fromkeys(region.results, len(region.ops)))
    return last
