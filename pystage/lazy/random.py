"""Random numbers as lazy tensors, drawn on the host by NumPy's own generators.

`default_rng(seed)` gives the numbers of `numpy.random.default_rng(seed)`, in the same order, on any device. Drawing computes
nothing that is pending; shuffling or choosing from a tensor indexes it, and so stays recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .array import LazyTensor, from_host
from .devices import device_named
from .standard.operands import apply
from .steps.recording import refuse_in_step
from .tensor import host_view

__all__ = ["Generator", "default_rng"]


def default_rng(seed: Any = None, *, device: Any = None) -> Generator:
    """A generator with the stream of `numpy.random.default_rng(seed)`, whose numbers are put on a device."""
    return Generator(np.random.default_rng(seed), device)


def _distribution(name: str) -> Callable[..., Any]:
    def draw(self: Generator, *args: Any, **kwargs: Any) -> Any:
        return self._drawn(name, args, kwargs)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"As `numpy.random.Generator.{name}`."
    return draw


class Generator:
    """`numpy.random.Generator` whose arrays are lazy tensors. A single number is a Python number, as in NumPy."""

    def __init__(self, generator: np.random.Generator, device: Any = None) -> None:
        self._source = generator
        self.device = device_named(device)

    @property
    def _generator(self) -> np.random.Generator:
        refuse_in_step("draws random numbers")
        return self._source

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """The source of the bits, which can be saved and restored by its `state`."""
        return self._generator.bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators with independent streams."""
        return [Generator(child, self.device) for child in self._generator.spawn(n_children)]

    def _drawn(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of NumPy's method; tensors among the arguments are parameters, and are computed."""
        out = kwargs.pop("out", None)
        if isinstance(out, LazyTensor):
            drawn = np.empty(out.shape, out.dtype)
            self._drawn(name, args, {**kwargs, "out": drawn})
            out[...] = drawn
            return out
        if out is not None:
            kwargs["out"] = out
        result = getattr(self._generator, name)(
            *[_on_host(a) for a in args], **{k: _on_host(v) for k, v in kwargs.items()}
        )
        return (
            from_host(result, self.device) if isinstance(result, np.ndarray) and result is not out else result
        )

    beta = _distribution("beta")
    binomial = _distribution("binomial")
    chisquare = _distribution("chisquare")
    dirichlet = _distribution("dirichlet")
    exponential = _distribution("exponential")
    f = _distribution("f")
    gamma = _distribution("gamma")
    geometric = _distribution("geometric")
    gumbel = _distribution("gumbel")
    hypergeometric = _distribution("hypergeometric")
    integers = _distribution("integers")
    laplace = _distribution("laplace")
    logistic = _distribution("logistic")
    lognormal = _distribution("lognormal")
    logseries = _distribution("logseries")
    multinomial = _distribution("multinomial")
    multivariate_hypergeometric = _distribution("multivariate_hypergeometric")
    multivariate_normal = _distribution("multivariate_normal")
    negative_binomial = _distribution("negative_binomial")
    noncentral_chisquare = _distribution("noncentral_chisquare")
    noncentral_f = _distribution("noncentral_f")
    normal = _distribution("normal")
    pareto = _distribution("pareto")
    poisson = _distribution("poisson")
    power = _distribution("power")
    random = _distribution("random")
    rayleigh = _distribution("rayleigh")
    standard_cauchy = _distribution("standard_cauchy")
    standard_exponential = _distribution("standard_exponential")
    standard_gamma = _distribution("standard_gamma")
    standard_normal = _distribution("standard_normal")
    standard_t = _distribution("standard_t")
    triangular = _distribution("triangular")
    uniform = _distribution("uniform")
    vonmises = _distribution("vonmises")
    wald = _distribution("wald")
    weibull = _distribution("weibull")
    zipf = _distribution("zipf")

    def permutation(self, x: Any, axis: int = 0) -> LazyTensor:
        """The numbers below an integer, or the slices of an array along an axis, in random order."""
        if not isinstance(x, LazyTensor):
            return from_host(self._generator.permutation(x, axis), self.device)
        return self._taken(x, self._generator.permutation(x.shape[axis]), axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts the slices of an array along an axis in random order, in place."""
        if not isinstance(x, LazyTensor):
            self._generator.shuffle(x, axis)
            return
        x[...] = self.permutation(x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """Permutes along an axis, for each place along the others independently; an array's elements are computed."""
        made = self._drawn("permuted", (x,), {"axis": axis, "out": out})
        return made.to(x.device) if isinstance(x, LazyTensor) and out is None else made

    def choice(
        self,
        a: Any,
        size: int | tuple[int, ...] | None = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Random slices of an array along an axis, or numbers below an integer; `p` are their probabilities."""
        if not isinstance(a, LazyTensor):
            return self._drawn("choice", (a, size, replace, p, axis, shuffle), {})
        chosen = self._generator.choice(a.shape[axis], size, replace, _on_host(p), 0, shuffle)
        return self._taken(a, chosen, axis)

    def _taken(self, x: LazyTensor, indices: Any, axis: int) -> LazyTensor:
        return apply(np.take, x, np.asarray(indices), axis=axis, mode="clip")

    def __repr__(self) -> str:
        return f"lazy {self._generator!r} on {self.device}"


def _on_host(value: Any) -> Any:
    if isinstance(value, LazyTensor):
        return host_view(value, "a parameter of random numbers")
    return value
