"""Comprehensions and generator expressions, as loops in the enclosing function (PEP 709).

A generator expression is lazy, so it is built only where a loop preserves that: fused into the loop over it, with an
early exit for `any`, `all` and `next`, as a filtered sum for `sum`, or as a list where a call consumes all of it. Anywhere
else it is the call of a generator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..diagnostics.codes_syntax import AsyncCode, UnpackingComprehension
from ..diagnostics.span import Span
from ..stage import ir
from .build_expressions import iterated, test
from .build_targets import assign_to
from .builder import StageBuilder
from .scope import VariableScope

_CONSUMERS = frozenset(
    ["sum", "min", "max", "list", "tuple", "set", "frozenset", "sorted", "dict", "Counter", "deque"]
)
"""Functions that take all elements before they return; to them a list is as good as a generator."""

_CONSUMING_METHODS = frozenset(
    [
        "join",
        "fromiter",
        "prod",
        "fsum",
        "_make",
        "Counter",
        "deque",
        "fromkeys",
    ]
)
"""Attributes that, when called with one generator, take all its elements at once."""

_SIMPLE = (ast.Name, ast.Constant, ast.Lambda, ast.UnaryOp)
"""Arguments whose evaluation before or after the elements is the same."""

_NAMES = {ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>"}


def comprehension(b: StageBuilder, node: Any) -> ir.Temp:
    """`[… for …]`, `{… for …}`, `{…: … for …}`; also a generator expression that is consumed at once."""
    scope = b.unit.scopes[node]
    elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    for element in elements:
        if isinstance(element, ast.Starred):
            b.report(UnpackingComprehension(span=b.span(element)))
            return b.constant(None, b.span(node))
    if scope.captured:
        return _as_function(b, node, scope)
    result = _empty(b, node)
    b.emit(_clause(b, node.generators, scope, lambda: _append(b, node, result)))
    return result


def _empty(b: StageBuilder, node: Any) -> ir.Temp:
    span, dst = b.span(node), b.temp()
    if isinstance(node, ast.DictComp):
        b.emit(ir.BuildDict(span, dst, ()))
    else:
        kind = ir.Sequence.SET if isinstance(node, ast.SetComp) else ir.Sequence.LIST
        b.emit(ir.Build(span, dst, kind, ()))
    return dst


def _append(b: StageBuilder, node: Any, result: ir.Temp) -> None:
    if isinstance(node, ast.DictComp):
        key = b.expr(node.key)
        b.emit(ir.Append(b.span(node), result, b.expr(node.value), key))
    else:
        b.emit(ir.Append(b.span(node.elt), result, b.expr(node.elt)))


def _as_function(b: StageBuilder, node: Any, scope: VariableScope, is_generator: bool = False) -> ir.Temp:
    """A comprehension whose variables a nested function captures, or a generator: a function of its first iterable."""
    span = b.span(node)
    name = _NAMES.get(type(node), "<genexpr>")
    frame = StageBuilder(b.unit, scope, f"{b.qualname}.<locals>.{name}")
    frame.hidden.add(".0")
    iterable = iterated(b, node.generators[0].iter)
    result = frame.constant(None, span) if is_generator else _empty(frame, node)

    def innermost() -> None:
        if is_generator:
            frame.emit_yield(node.elt, frame.expr(node.elt))
        else:
            _append(frame, node, result)

    source = frame.load_hidden(".0", span)
    frame.emit(_clause(frame, node.generators, scope, innermost, source))
    frame.emit(ir.Return(span, result))
    function = frame.finish(name, ir.Parameters(positional_only=(".0",)), span, frame.block)
    b.nested.append(function)
    made, dst = b.temp(), b.temp()
    b.emit(ir.MakeFunction(span, made, function, (), ()))
    b.emit(ir.Call(span, dst, made, (ir.Arg(ir.ArgKind.POSITIONAL, iterable),)))
    return dst


def _clause(
    b: StageBuilder,
    clauses: Sequence[ast.comprehension],
    scope: VariableScope,
    innermost: Callable[[], None],
    source: ir.Temp | None = None,
    stop: Callable[[], None] | None = None,
) -> ir.For:
    """The loop of `for target in iter if …` and what stands to its right. `stop` breaks out if it is time."""

    clause, inner = clauses[0], clauses[1:]

    def on_element(element: ir.Temp) -> None:
        with b.within(scope):
            assign_to(b, clause.target, element)
            _filtered(b, clause.ifs, rest)

    def rest() -> None:
        if not inner:
            innermost()
            return
        b.emit(_clause(b, inner, scope, innermost, None, stop))
        if stop is not None:
            stop()

    span = b.header(clause.target, clause.iter)
    if clause.is_async:
        b.report(AsyncCode(keyword="async for", span=span))
    if source is None:
        return loop_over(b, clause.iter, span, on_element, stop)
    return _loop(b, source, span, on_element)


def _filtered(b: StageBuilder, conditions: Sequence[Any], then: Callable[[], None]) -> None:
    if not conditions:
        then()
        return
    condition = conditions[0]
    branch = ir.If(b.span(condition), test(b, condition), [], [])
    with b.into(branch.then):
        _filtered(b, conditions[1:], then)
    b.emit(branch)


def loop_over(
    b: StageBuilder,
    iterable: Any,
    span: Span,
    on_element: Callable[[ir.Temp], None],
    stop: Callable[[], None] | None = None,
) -> ir.For:
    """The loop over what `iterable` gives; a generator expression is fused into it, element by element."""
    scope = b.unit.scopes.get(iterable)
    if not isinstance(iterable, ast.GeneratorExp) or scope is None or scope.captured:
        return _loop(b, iterated(b, iterable), span, on_element)
    outside = b.scope

    def innermost() -> None:
        element = b.expr(iterable.elt)
        with b.within(outside):
            on_element(element)

    return _clause(b, iterable.generators, scope, innermost, None, stop)


def _loop(b: StageBuilder, source: ir.Temp, span: Span, on_element: Callable[[ir.Temp], None]) -> ir.For:
    loop = ir.For(span, source, b.temp(), [])
    with b.into(loop.body):
        on_element(loop.target)
    return loop


def generator(b: StageBuilder, node: Any) -> ir.Temp:
    """A generator expression where nothing is known to consume it: a call of a generator function."""
    scope = b.unit.scopes[node]
    if scope.captured:
        return _as_function(b, node, scope, is_generator=True)
    b.unit.generators.add(node)
    return b.constant(None, b.span(node))


def generator_call(b: StageBuilder, node: Any) -> ir.Temp | None:
    """A call whose first argument is a generator expression; None if it is an ordinary call."""
    if not node.args or not isinstance(node.args[0], ast.GeneratorExp):
        return None
    argument, others = node.args[0], [*node.args[1:], *[keyword.value for keyword in node.keywords]]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name and not b.is_usual(name):
        return None
    if name == "next" and not b.unit.scopes[argument].captured and _takes_at_most_a_simple_default(node):
        return _first(b, node, argument)
    if name in ("any", "all") and not others and not b.unit.scopes[argument].captured:
        return _decided(b, node, argument, name)
    consumed_method = isinstance(node.func, ast.Attribute) and node.func.attr in _CONSUMING_METHODS
    simple = all(isinstance(a, _SIMPLE) for a in others) and all(keyword.arg for keyword in node.keywords)
    if name == "sum" and not b.unit.scopes[argument].captured and simple and len(others) <= 1:
        return _summed(b, node, argument)
    if name in _CONSUMERS and simple:
        return _consumed(b, node, argument, once=False)
    if consumed_method and not others:
        return _consumed(b, node, argument, once=True)
    return None


def _consumed(b: StageBuilder, node: Any, argument: Any, *, once: bool) -> ir.Temp:
    """The call with a list for the generator; `once`: as an iterator, which can be run through only once."""
    func = b.expr(node.func)
    elements = comprehension(b, argument)
    span = b.span(argument)
    if once:
        maker, listed = b.constant(iter, span), elements
        elements = b.temp()
        b.emit(ir.Call(span, elements, maker, (ir.Arg(ir.ArgKind.POSITIONAL, listed),)))
    args = [ir.Arg(ir.ArgKind.POSITIONAL, elements)]
    args += [ir.Arg(ir.ArgKind.POSITIONAL, b.expr(other)) for other in node.args[1:]]
    args += [ir.Arg(ir.ArgKind.KEYWORD, b.expr(k.value), k.arg) for k in node.keywords]
    dst = b.temp()
    b.emit(ir.Call(b.span(node), dst, func, tuple(args)))
    return dst


def _summed(b: StageBuilder, node: Any, argument: Any) -> ir.Temp:
    """`sum(… for …)`: a loop that adds.

    The builtin is still loaded, so that whoever guards the globals of this function guards it too.
    """
    span = b.span(node)
    function = b.load("sum", b.span(node.func))
    total = b.hidden_local("sum")
    begins = b.constant(0, span)
    given_start = [*node.args[1:], *[keyword.value for keyword in node.keywords]]
    if given_start:  # the builtin refuses texts, also where it adds nothing to them
        start, begins = b.expr(given_start[0]), b.temp()
        given = [ir.Arg(ir.ArgKind.POSITIONAL, value) for value in (b.constant((), span), start)]
        b.emit(ir.Call(span, begins, function, tuple(given)))
    b.store_hidden(total, begins, span)

    def add() -> None:
        dst = b.temp()
        value = b.expr(argument.elt)
        b.emit(ir.Binary(span, dst, "+", b.load_hidden(total, span), value))
        b.store_hidden(total, dst, span)

    b.emit(_clause(b, argument.generators, b.unit.scopes[argument], add))
    return b.load_hidden(total, span)


def _takes_at_most_a_simple_default(node: ast.Call) -> bool:
    return len(node.args) <= 2 and not node.keywords and all(isinstance(a, _SIMPLE) for a in node.args[1:])


def _first(b: StageBuilder, node: Any, argument: Any) -> ir.Temp:
    """`next(… for …)`, with or without a default: a loop that ends at the first element; nobody can ask for another.

    The builtin is still loaded, so that whoever guards the globals of this function guards it too.
    """
    span = b.span(node)
    b.load("next", b.span(node.func))
    found, value = b.hidden_local("next"), b.hidden_local("next")
    b.store_hidden(found, b.constant(False, span), span)
    if len(node.args) > 1:
        b.store_hidden(value, b.expr(node.args[1]), span)

    def take() -> None:
        b.store_hidden(value, b.expr(argument.elt), span)
        b.store_hidden(found, b.constant(True, span), span)
        b.emit(ir.Break(span))

    def stop() -> None:
        branch = ir.If(span, b.load_hidden(found, span), [], [])
        with b.into(branch.then):
            b.emit(ir.Break(span))
        b.emit(branch)

    b.emit(_clause(b, argument.generators, b.unit.scopes[argument], take, None, stop))
    if len(node.args) == 1:
        branch = ir.If(span, b.load_hidden(found, span), [], [])
        with b.into(branch.orelse):
            b.emit(ir.Raise(span, b.constant(StopIteration, span)))
        b.emit(branch)
    return b.load_hidden(value, span)


def _decided(b: StageBuilder, node: Any, argument: Any, name: str) -> ir.Temp:
    """`any(…)` and `all(…)`: a loop that ends at the first element that decides.

    The builtin is still loaded, so that whoever guards the globals of this function guards it too.
    """
    span = b.span(node)
    b.load(name, b.span(node.func))
    found = b.hidden_local(name)
    b.store_hidden(found, b.constant(name == "all", span), span)

    def leave_if(value: ir.Temp, *, record: bool) -> None:
        branch = ir.If(span, value, [], [])
        with b.into(branch.then if name == "any" else branch.orelse):
            if record:
                b.store_hidden(found, b.constant(name == "any", span), span)
            b.emit(ir.Break(span))
        b.emit(branch)

    b.emit(
        _clause(
            b,
            argument.generators,
            b.unit.scopes[argument],
            lambda: leave_if(b.expr(argument.elt), record=True),
            None,
            lambda: leave_if(b.load_hidden(found, span), record=False),
        )
    )
    return b.load_hidden(found, span)
