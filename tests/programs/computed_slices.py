"""Slices whose bounds are counters: read, reduced, beside each other, stored into, sliced again.

While it is written, a slice is an expression of the kind of an array of three elements, of which NumPy says what an
operation gives; how many it has is not known. Two slices beside each other mostly have one length: the same bounds,
bounds moved by the same number, or the beginning of one array and the end of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import operations as ops
from .counters import counter, counters, offset
from .expressions import PYTHON_INT, bound, expression, fit, index, kept, scalar, typed
from .kinds import Bound, Expression, Form, Grade, Kind, Number, Part
from .operations import Operation, apply, known
from .statements import augmented, bind, declare, stored
from .writer import Writer

SEVERAL = (3,)
"""The shape of the sample of a slice."""
ALONE = (
    *(Operation(text, ops.largest) for text in ("{0}[::-1]", "np.flip({0})", "{0}.copy()", "np.sort({0})")),
    *(o for o in (*ops.ARITHMETIC, *ops.ELEMENTWISE, *ops.ROUNDED) if o.operands == 1),
    Operation("np.cumsum({0})", ops.times(8)),
    Operation("np.where({0} > 0, {0}, 0)", ops.largest, exact=True),
)
TOGETHER = (
    *(o for o in ops.ARITHMETIC if o.operands == 2),
    *(o for o in ops.ARITHMETIC if o.operands == 2),
    *(o for o in (*ops.ELEMENTWISE, *ops.COMPARISONS) if o.operands == 2),
)
REDUCTIONS = (
    Operation("{0}.sum()", ops.times(8)),
    Operation("{0}.sum()", ops.times(8)),
    Operation("np.sum({0})", ops.times(8)),
    Operation("({0} @ {0})", lambda a: ops.multiply(a, a, Bound(8))),
    Operation("{0}.any()", ops.up_to(1, whole=True), exact=True),
    Operation("{0}.all()", ops.up_to(1, whole=True), exact=True),
    Operation("{0}.max()", ops.largest),
    Operation("{0}.min()", ops.largest),
    Operation("{0}.argmax()", ops.up_to(8, whole=True), exact=True),
    Operation("sum({0})", ops.times(8)),
    Operation("{0}.max(initial=0)", ops.largest),
)
PRODUCT = Operation("({0} @ {1})", lambda a, b: ops.multiply(a, b, Bound(8)))


@dataclass(frozen=True)
class Bounds:
    """The bounds of a slice; the texts are empty where there is none."""

    low: str
    high: str
    step: str = ""

    @property
    def text(self) -> str:
        return f"{self.low}:{self.high}" + (f":{self.step}" if self.step else "")

    def beside(self, w: Writer) -> Bounds:
        """Those of another slice, mostly of the same length."""
        form = w.below(8)
        if form == 0 and self.low and self.high:
            by = counter(w)
            return Bounds(f"{self.low} + {by}", f"{self.high} + {by}", self.step)
        if form == 1 and self.low and not self.high and not self.step:
            return Bounds("", f"-({self.low})" if w.below(2) else f"len(a) - ({self.low})")
        return bounds(w) if form == 2 else self


def bounds(w: Writer) -> Bounds:
    """Bounds made of counters."""
    low, high = offset(w), offset(w)
    form = w.below(10)
    if form < 3:
        return Bounds(low, high)
    if form == 3:
        return Bounds(low, f"{low} + {counter(w)}")
    if form == 4:
        return Bounds(high, low, "-1")
    if form == 5:
        return Bounds(low, "", w.pick(("-1", "2", "-2")))
    return Bounds("", high) if form < 8 else Bounds(low, "")


# ---------------------------------------------------------------- expressions


def part(w: Writer, depth: int, around: Bounds | None = None) -> Expression | None:
    """A slice, or what is computed of slices; None if there is no array."""
    form = w.below(8) if depth else 0
    if form < 3:
        return _slice(w, around or bounds(w))
    first_bounds = around or bounds(w)
    first = part(w, depth - 1, first_bounds)
    if first is None:
        return None
    if form == 3:
        return _sized(apply(w.pick(ALONE), first)) or first
    if form == 4:
        return replace(first, text=f"{first.text}[{bounds(w).text}]")
    second = scalar(w, expression(w, 1)) if form == 5 else part(w, depth - 1, first_bounds.beside(w))
    if second is None:
        return first
    pair = (second, first) if w.chance(3) else (first, second)
    return _sized(apply(w.pick(TOGETHER), *pair)) or first


def _sized(e: Expression | None) -> Expression | None:
    return e if e is not None and e.kind.shape == SEVERAL and e.kind.form.has_shape else None


def _slice(w: Writer, around: Bounds) -> Expression | None:
    """A slice of an array, of a row or a column, or a slice that has a name."""
    named = w.of_type(Part)
    if named and w.chance(3):
        text, kind, _ = w.pick(named)
        return known(text, replace(kind.number, shape=SEVERAL))
    place = _place(w, around, read=True)
    return known(*place) if place is not None else None


def _place(w: Writer, around: Bounds, read: bool = False) -> tuple[str, Number] | None:
    """A slice of an array, and the kind of its sample; if not `read`, one that can be stored into."""
    arrays = w.arrays(lambda k: len(k.shape) < 3)
    if read:
        arrays += w.numbers(lambda k: k.form is Form.JAX and 0 < len(k.shape) < 3 and k.elements > 0)
    if not arrays:
        return None
    long = [place for place in arrays if place[1].elements > 3]
    text, kind, _ = w.pick(long if long and w.below(3) else arrays)
    inside = around.text.replace("len(a)", f"len({text})")
    if len(kind.shape) == 2:
        at = index(w, kind.shape[0])
        inside = w.pick((f"{at}, {inside}", f"{inside}, {index(w, kind.shape[1])}"))
    return f"{text}[{inside}]", replace(kind, shape=SEVERAL)


def reduced(w: Writer) -> Expression | None:
    """A number that is computed of slices; None if there is no array or no counter."""
    if not counters(w):
        return None
    form = w.below(10)
    around = bounds(w)
    first = part(w, 2, around)
    if first is None:
        return None
    if form == 0:
        return known(f"len({first.text})", PYTHON_INT, Bound(8))
    if form == 1:
        return _element(first, offset(w))
    if form < 4:
        second = part(w, 1, around.beside(w))
        return apply(PRODUCT, first, second) if second is not None else None
    if form == 4:
        return _product(w, first, around)
    e = apply(w.pick(REDUCTIONS), first)
    return e if e is not None and e.kind.shape == () else None


def _element(e: Expression, at: str) -> Expression | None:
    of = apply(Operation("{0}[0]", ops.largest), e)
    return replace(of, text=f"{e.text}[{at}]") if of is not None else None


def _product(w: Writer, e: Expression, around: Bounds) -> Expression | None:
    """An element, or the sum, of the product with a part of a matrix."""
    found = w.arrays(lambda k: len(k.shape) == 2 and k.letter in "if" and k.elements > 3)
    if not found:
        return None
    text, kind, _ = w.pick(found)
    inside = around.text.replace("len(a)", f"len({text})")
    second = known(f"{text}[{inside}]", replace(kind, shape=(3, 2)))
    return apply(Operation(w.pick(("({0} @ {1}).sum()", "({1}.T @ {0})[0]")), PRODUCT.rule), e, second)


# ---------------------------------------------------------------- statements


def name_part(w: Writer) -> None:
    """A name for a slice, or for what is computed of slices."""
    e = part(w, w.below(3))
    if e is None:
        return declare(w)
    kind = kept(e)
    if e.bound.exact and not e.bound.is_small:
        e = bound(e, kind) or e
    if e.bound.size > ops.LARGE or (e.bound.exact and not e.bound.is_small and kind.grade is Grade.SMALL):
        return declare(w)
    # a slice of a slice keeps the memory, and so the grade, of its array
    name = w.name("v")
    w.add(f"{name} = {e.text}")
    return w.declare(name, Part(replace(kind, grade=e.kind.grade if e.text[-1] == "]" else kind.grade)))


def store_part(w: Writer) -> None:
    """A store into a slice: of a number, or of slices beside it."""
    around = bounds(w)
    named = [(text, kind.number) for text, kind, _ in w.of_type(Part) if kind.number.form is Form.ARRAY]
    if named and w.chance(3):
        text, kind = w.pick(named)
        text = w.pick((f"{text}[...]", f"{text}[{around.text}]", f"{text}[{offset(w)}]"))
    else:
        place = _place(w, around)
        if place is None:
            return declare(w)
        text, kind = place
    kind = replace(kind, shape=SEVERAL)
    form = w.below(6)
    if form == 0:
        return w.add(f"{text} {augmented(w, kind) or '= ' + stored(w, kind, ())}")
    e = part(w, 2, around.beside(w)) if form > 2 and text[-4:] != "...]" else None
    if e is None:
        return w.add(f"{text} = {stored(w, kind, ())}")
    more = form == 5 and kind.letter in "if" and kind.grade is not Grade.WHOLE
    whole = apply(ops.ARITHMETIC[0], known(text, kind), e) if more else e
    fitting = typed(whole, kind) if whole is not None else None
    fitting = bound(fitting, kind) if fitting is not None else None
    if fitting is None:
        return w.add(f"{text} = {stored(w, kind, ())}")
    if more and whole is fitting and kind.letter == "f":
        return w.add(f"{text} += {e.text}")
    return w.add(f"{text} = {fitting.text}")


def part_sources(w: Writer) -> list[tuple[str, dict[str, Kind]]]:
    """Headers of loops over slices, and the names that they bind."""
    place = _slice(w, bounds(w)) if counters(w) else None
    if place is None:
        return []
    item = w.name("v")
    form = Form.JAX if place.kind.form is Form.JAX else Form.NUMPY
    number = Number(form, place.kind.dtype, (), place.kind.grade)
    return [(f"for {item} in {place.text}:", {item: number})]


def bind_reduced(w: Writer) -> None:
    """A name for a number that is computed of slices."""
    e = reduced(w)
    if e is None:
        return declare(w)
    return bind(w, fit(w, e, kept(e)), kept(e))


PARTS: tuple[Callable[[Writer], None], ...] = (name_part, store_part, store_part, bind_reduced)
