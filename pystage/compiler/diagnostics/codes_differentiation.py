"""PS7xx: errors of derivatives and of mapped functions."""

from __future__ import annotations

from ...records import dataclass
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class NoDerivative(Diagnostic):
    """An operation on the way from the argument to the result that has no derivative rule."""

    code = "PS701"
    title = "{what} cannot be differentiated"
    label = "on the way from the argument to the result"
    help = (
        "compute this from values that do not depend on the argument, or put pystage.stop_gradient around it"
    )

    what: str
    instead: str = ""

    @property
    def advice(self) -> str:
        """How to write it, where that is known."""
        return self.instead or self.help


@dataclass(frozen=True, kw_only=True)
class NoSuchArgument(Diagnostic):
    """A derivative by an argument that the call does not have."""

    code = "PS702"
    title = "there is no argument {argument} to differentiate by: the call has {count}"
    label = "called here"
    help = "count positional arguments from 0, and pass the argument by position"

    argument: str
    count: int


@dataclass(frozen=True, kw_only=True)
class RuleDoesNotFit(Diagnostic):
    """The rule of a `pystage.custom_vjp` function does not give what a derivative is made of."""

    code = "PS704"
    title = "the rule of `{name}` does not fit: {what}"
    label = "the function is called here"
    help = (
        "the forward rule takes the function's arguments and gives its result and residuals, as a pair; the backward "
        "rule takes the residuals and the cotangent of the result, and gives a tuple with the cotangent of each "
        "argument, of the same structure and shapes (None for zeros)"
    )

    name: str
    what: str


@dataclass(frozen=True, kw_only=True)
class NoForwardRule(Diagnostic):
    """Forward mode through a function with a rule of its own (`pystage.custom_vjp`, or JAX's)."""

    code = "PS705"
    title = "forward mode cannot go through `{name}`: its rule serves reverse mode only"
    label = "called here, on the way from the argument to the result"
    help = (
        "use pystage.grad or pystage.vjp (jvp, jacobian and the outer derivative of hessian are forward mode)"
    )

    name: str


@dataclass(frozen=True, kw_only=True)
class OutsideOfRule(Diagnostic):
    """A derivative by something that a `pystage.custom_vjp` function uses, and that its rule does not cover."""

    code = "PS706"
    title = "the derivative goes through what `{name}` closes over or names in nondiff_argnums"
    label = "its rule covers only the other arguments"
    help = "pass it as an argument that the rule gives a cotangent of, or put pystage.stop_gradient around it"

    name: str


@dataclass(frozen=True, kw_only=True)
class NoRuleFor(Diagnostic):
    """A `pystage.custom_vjp` function does what its rule cannot stand for, and is differentiated."""

    code = "PS707"
    title = "the rule of `{name}` cannot stand for it: {what}"
    label = "the function is called here"
    help = "let the function return new arrays, change nothing that it is given, and its rule raise and print nothing"

    name: str
    what: str


@dataclass(frozen=True, kw_only=True)
class StoreInMapped(Diagnostic):
    """A mapped function that changes what was there before. The elements of the batch run at once: no order is left."""

    code = "PS703"
    ever = False
    title = "a function under `vmap` changes an array or an object that it did not make"
    label = "in the function that is mapped"
    help = "return the new values from the function, and store them after the call"
