"""Functions of the namespace against NumPy's of the same meaning; and that they are recorded, not computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pystage import lazy

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2, 3, 4))
V, W = X[0], Y[0]
I8 = np.array([[3, 1, 2], [1, 2, 3]], np.int8)
U16 = np.array([3, 1, 2], np.uint16)
B = X > 0
C = X + 1j * Y
SPD = X @ X.T + 3 * np.eye(3)
STACK = np.stack([SPD, SPD + np.eye(3)])
UNSORTED = np.array([2.0, -1.0, 2.0, 0.5, -1.0])

Case = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]
"""A function of the namespace and operands, one of NumPy, and the operands."""


def case(ours: Callable[..., Any], theirs: Callable[..., Any], *operands: Any) -> Case:
    return ours, theirs, operands


CREATION = [
    case(lambda x: lazy.zeros_like(x, dtype=lazy.int8), lambda x: np.zeros_like(x, np.int8), X),
    case(lambda x: lazy.full_like(x, 2.5), lambda x: np.full_like(x, 2.5), X),
    case(lazy.ones_like, np.ones_like, I8),
    case(lazy.meshgrid, lambda *x: list(np.meshgrid(*x)), V, W),
    case(lambda *x: lazy.meshgrid(*x, indexing="ij"), lambda *x: list(np.meshgrid(*x, indexing="ij")), V, W),
    case(lambda x: lazy.tril(x, k=-1), lambda x: np.tril(x, -1), X),
    case(lambda x: lazy.triu(x, k=1), lambda x: np.triu(x, 1), X),
    case(lambda x: lazy.asarray([x, x], dtype=lazy.float32), lambda x: np.asarray([x, x], np.float32), V),
]
ELEMENTWISE = [
    case(lambda x: lazy.clip(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5), X),
    case(lambda x, y: lazy.clip(x, max=y), lambda x, y: np.minimum(x, y), X, Y),
    case(lazy.clip, np.copy, I8),
    case(lambda x: lazy.pow(2, x), lambda x: 2**x, I8),
    case(lambda x: lazy.add(x, 1.5j), lambda x: x + np.complex64(1.5j), X.astype(np.float32)),
    case(lambda x: lazy.bitwise_left_shift(x, 2), lambda x: x << 2, U16),
    case(lazy.logical_xor, np.logical_xor, B, ~B[::-1]),
    case(lazy.conj, np.conj, C),
    case(lazy.imag, np.imag, C),
    case(lazy.round, np.round, C * 3),
    case(lazy.add, np.add, I8[0], U16),
]
MANIPULATION = [
    case(lambda x, y: lazy.concat([x, y], axis=1), lambda x, y: np.concatenate([x, y], 1), X, Y),
    case(lambda x, y: lazy.concat([x, y], axis=None), lambda x, y: np.concatenate([x, y], None), X, I8 * 1.0),
    case(lambda x: lazy.expand_dims(x, -1), lambda x: x[..., None], X),
    case(lambda x: lazy.flip(x, axis=(0, 1)), lambda x: x[::-1, ::-1], X),
    case(lambda x: lazy.moveaxis(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0)), STACK),
    case(lambda x: lazy.permute_dims(x, (1, 0)), np.transpose, X),
    case(lambda x: lazy.repeat(x, 2, axis=1), lambda x: np.repeat(x, 2, 1), X),
    case(lambda x: lazy.roll(x, (1, -1), axis=(0, 1)), lambda x: np.roll(x, (1, -1), (0, 1)), X),
    case(lambda x: lazy.squeeze(x[:1, ...], 0), lambda x: x[0], X),
    case(lambda x, y: lazy.stack([x, y], axis=-1), lambda x, y: np.stack([x, y], -1), X, Y),
    case(lambda x: lazy.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), X),
    case(lambda x: lazy.unstack(x, axis=1), lambda x: tuple(x.T), X),
    case(lambda x: lazy.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), X),
    case(lambda x, y: lazy.broadcast_arrays(x, y), lambda x, y: list(np.broadcast_arrays(x, y)), X, V),
    case(lambda x: lazy.reshape(x, (2, -1), copy=True), lambda x: x.reshape(2, -1), X),
]
SEARCHING = [
    case(lambda x: lazy.argmax(x, axis=1, keepdims=True), lambda x: np.argmax(x, 1, keepdims=True), X),
    case(lazy.argmin, np.argmin, X),
    case(lambda x: lazy.count_nonzero(x, axis=0), lambda x: np.count_nonzero(x, axis=0), B),
    case(lambda x: lazy.count_nonzero(x, keepdims=True), lambda x: np.count_nonzero(x, keepdims=True), C),
    case(lazy.searchsorted, np.searchsorted, np.sort(V), X),
    case(
        lambda x, y, i: lazy.searchsorted(x, y, side="right", sorter=i),
        lambda x, y, i: np.searchsorted(x, y, "right", i),
        *(V, W, np.argsort(V)),
    ),
    case(lambda c, x: lazy.where(c, x, 0), lambda c, x: np.where(c, x, 0), B, X),
    case(lambda x, i: lazy.take(x, i, axis=1), lambda x, i: np.take(x, i, 1), X, np.array([2, -1])),
    case(
        lambda x, i: lazy.take_along_axis(x, i, axis=0),
        lambda x, i: np.take_along_axis(x, i, 0),
        *(X, np.array([[0, 2, -1, 1]])),
    ),
    case(lambda x: lazy.sort(x, descending=True), lambda x: np.sort(x)[::-1], UNSORTED),
    case(lambda x: lazy.argsort(x, descending=True), lambda x: np.argsort(-x, stable=True), UNSORTED),
    case(lambda x: lazy.argsort(x, axis=0), lambda x: np.argsort(x, 0), X),
]
STATISTICAL = [
    case(lazy.sum, np.sum, I8),
    case(lazy.prod, np.prod, U16),
    case(lambda x: lazy.sum(x, dtype=lazy.int8), lambda x: np.sum(x, dtype=np.int8), I8),
    case(lambda x: lazy.sum(x, axis=(0, 1), keepdims=True), lambda x: np.sum(x, (0, 1), keepdims=True), X),
    case(lambda x: lazy.std(x, correction=1), lambda x: np.std(x, ddof=1), X),
    case(lambda x: lazy.var(x, axis=0, correction=0.5), lambda x: np.var(x, 0, ddof=0.5), X),
    case(lambda x: lazy.mean(x, axis=()), lambda x: np.mean(x, ()), X.astype(np.float32)),
    case(lambda x: lazy.max(x, axis=0), lambda x: np.max(x, 0), X),
    case(lazy.cumulative_sum, np.cumsum, U16),
    case(
        lambda x: lazy.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: np.cumsum(np.concatenate([np.zeros((3, 1)), x], 1), 1),
        X,
    ),
    case(
        lambda x: lazy.cumulative_prod(x, axis=-1, include_initial=True),
        lambda x: np.cumprod(np.concatenate([np.ones((3, 1)), x], 1), 1),
        X,
    ),
    case(lambda x: lazy.all(x, axis=1), lambda x: np.all(x, 1), X),
    case(lazy.any, np.any, B),
    case(
        lambda x, y: lazy.diff(x, n=2, prepend=y, append=x),
        lambda x, y: np.diff(x, 2, prepend=y, append=x),
        *(X, Y),
    ),
]
LINEAR = [
    case(lazy.matmul, np.matmul, I8[:, :2], I8),
    case(lazy.matrix_transpose, lambda x: x.swapaxes(1, 2), STACK),
    case(lambda x, y: lazy.tensordot(x, y, axes=((0,), (0,))), lambda x, y: x.T @ y, X, Y),
    case(lambda x, y: lazy.vecdot(x, y, axis=-2), lambda x, y: (x.conj() * y).sum(-2), C, X),
    case(lambda x: lazy.linalg.cholesky(x, upper=True), lambda x: np.linalg.cholesky(x).mT, STACK),
    case(lambda x, y: lazy.linalg.cross(x, y, axis=0), lambda x, y: np.cross(x, y, axis=0), X, Y),
    case(lazy.linalg.det, np.linalg.det, STACK),
    case(lambda x: lazy.linalg.diagonal(x, offset=-1), lambda x: np.diagonal(x, -1, -2, -1), STACK),
    case(lazy.linalg.eigvalsh, np.linalg.eigvalsh, STACK),
    case(lazy.linalg.inv, np.linalg.inv, STACK),
    case(
        lambda x: lazy.linalg.matrix_norm(x, ord="nuc", keepdims=True),
        lambda x: np.linalg.norm(x, "nuc", (-2, -1), True),
        STACK,
    ),
    case(lambda x: lazy.linalg.matrix_power(x, -2), lambda x: np.linalg.matrix_power(x, -2), STACK),
    case(lazy.linalg.matrix_rank, np.linalg.matrix_rank, np.stack([np.ones((3, 3)), SPD])),
    case(
        lambda x, r: lazy.linalg.matrix_rank(x, rtol=r),
        lambda x, r: np.linalg.matrix_rank(x, rtol=r),
        *(STACK, np.array([0.2, 0.9])),
    ),
    case(lazy.linalg.outer, np.outer, V, W),
    case(lazy.linalg.pinv, lambda x: np.linalg.pinv(x, rtol=None), X),
    case(lambda x: lazy.linalg.pinv(x, rtol=0.5), lambda x: np.linalg.pinv(x, 0.5), X),
    case(lazy.linalg.slogdet, np.linalg.slogdet, SPD),
    case(lazy.linalg.solve, np.linalg.solve, SPD, V[:3]),
    case(lazy.linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), STACK),
    case(lambda x: lazy.linalg.trace(x, offset=1), lambda x: np.trace(x, 1, -2, -1), STACK),
    case(lazy.linalg.trace, np.trace, I8),
    case(lazy.linalg.vector_norm, np.linalg.norm, STACK.reshape(-1)),
    case(
        lambda x: lazy.linalg.vector_norm(x, axis=(0, 2), keepdims=True, ord=1),
        lambda x: np.abs(x).sum((0, 2), keepdims=True),
        STACK,
    ),
    case(
        lambda x: lazy.linalg.vector_norm(x, ord=float("-inf"), keepdims=True),
        lambda x: np.abs(x).min(keepdims=True),
        STACK,
    ),
]
FFT = [
    case(lambda x: lazy.fft.fft(x, n=5, norm="ortho"), lambda x: np.fft.fft(x, 5, norm="ortho"), C),
    case(lazy.fft.fft, np.fft.fft, X.astype(np.float32)),
    case(lambda x: lazy.fft.ifft(x, axis=0), lambda x: np.fft.ifft(x, axis=0), C),
    case(lambda x: lazy.fft.rfft(x, norm="forward"), lambda x: np.fft.rfft(x, norm="forward"), X),
    case(lazy.fft.irfft, np.fft.irfft, C),
    case(lazy.fft.hfft, np.fft.hfft, C),
    case(lazy.fft.ihfft, np.fft.ihfft, X),
    case(lazy.fft.fftn, np.fft.fftn, C),
    case(lambda x: lazy.fft.ifftn(x, axes=(0,)), lambda x: np.fft.ifftn(x, axes=(0,)), C),
    case(lazy.fft.rfftn, np.fft.rfftn, X),
    case(lazy.fft.irfftn, np.fft.irfftn, C),
    case(lambda x: lazy.fft.fftshift(x, axes=1), lambda x: np.fft.fftshift(x, 1), C),
    case(lazy.fft.ifftshift, np.fft.ifftshift, X),
]
COMPUTED = [
    case(lazy.nonzero, np.nonzero, B),
    case(lazy.repeat, np.repeat, V, np.array([2, 0, 1, 3])),
    case(lazy.unique_all, np.unique_all, UNSORTED),
    case(lazy.unique_counts, np.unique_counts, UNSORTED),
    case(lazy.unique_inverse, np.unique_inverse, UNSORTED),
    case(lazy.unique_values, np.unique, UNSORTED),
    case(lambda x: lazy.fft.fftn(x, s=(2,)), lambda x: np.fft.fftn(x, (2,), (1,)), C),
]
"""What the values decide the shape of, and what the recorder does not know yet."""


def lazily(made: Case) -> Any:
    """The result of the namespace's function; the operands are tensors."""
    return made[0](*[lazy.asarray(x) for x in made[2]])


def is_like(found: Any, wanted: Any) -> bool:
    """Equal in structure, types, shapes and up to rounding; what NumPy gives as a scalar is an array."""
    if isinstance(wanted, tuple | list):
        assert type(found).__name__ == type(wanted).__name__ and len(found) == len(wanted)
        return all(map(is_like, found, wanted))
    assert type(found) is lazy.LazyTensor and type(found[...]) is lazy.LazyTensor
    assert (found.dtype, found.shape) == (np.asarray(wanted).dtype, np.shape(wanted))
    rtol, atol = (1e-5, 1e-6) if found.dtype in (lazy.float32, lazy.complex64) else (1e-9, 1e-12)
    return np.allclose(np.asarray(found), wanted, rtol, atol)


@pytest.mark.parametrize(
    "chapter",
    [CREATION, ELEMENTWISE, MANIPULATION, SEARCHING, STATISTICAL, LINEAR, FFT],
    ids=["creation", "elementwise", "manipulation", "searching", "statistical", "linear", "fft"],
)
def test_functions_are_numpys_and_recorded(chapter: list[Case]) -> None:
    before = lazy.metrics().unlowered
    found = [lazily(each) for each in chapter]
    assert lazy.metrics().unlowered == before
    lazy.sync()
    for i, (_, theirs, operands) in enumerate(chapter):
        assert is_like(found[i], theirs(*operands)), i


def test_functions_that_compute_are_numpys() -> None:
    for i, each in enumerate(COMPUTED):
        assert is_like(lazily(each), each[1](*each[2])), i


def test_decompositions_give_back_the_matrix() -> None:
    x = lazy.asarray(X)
    spd = lazy.asarray(STACK)
    for mode in ("reduced", "complete"):
        q, r = lazy.linalg.qr(x.mT, mode=mode)
        assert q.shape == ((4, 3) if mode == "reduced" else (4, 4))
        assert np.allclose(np.asarray(q @ r), X.T)
    u, s, vh = lazy.linalg.svd(x, full_matrices=False)
    assert np.allclose(np.asarray((u * s) @ vh), X)
    assert lazy.linalg.svd(x).Vh.shape == (4, 4)
    values, vectors = lazy.linalg.eigh(spd)
    assert np.allclose(np.asarray((vectors * values[:, None, :]) @ vectors.mT), STACK)


def test_ranges_are_numpys_own_numbers() -> None:
    pairs = [
        (lazy.arange(5), np.arange(5)),
        (lazy.arange(1, 2, 0.1), np.arange(1, 2, 0.1)),
        (lazy.arange(4, dtype=lazy.float32), np.arange(4, dtype=np.float32)),
        (lazy.linspace(0, 1, 7), np.linspace(0, 1, 7)),
        (lazy.linspace(0, 1j, 3, endpoint=False), np.linspace(0, 1j, 3, endpoint=False)),
        (lazy.eye(3, 4, k=-1), np.eye(3, 4, -1)),
        (lazy.full((2,), True), np.full((2,), True)),
        (lazy.full(3, 1j), np.full(3, 1j)),
        (lazy.ones((2, 0)), np.ones((2, 0))),
        (lazy.zeros(2, dtype=lazy.bool), np.zeros(2, bool)),
        (lazy.fft.fftfreq(5, d=0.1), np.fft.fftfreq(5, 0.1)),
        (lazy.fft.rfftfreq(4, dtype=lazy.float32), np.fft.rfftfreq(4).astype(np.float32)),
    ]
    for found, wanted in pairs:
        assert found.dtype == wanted.dtype and np.array_equal(np.asarray(found), wanted)
    assert lazy.empty((2, 3)).shape == (2, 3) and lazy.empty_like(lazy.asarray(X)).dtype == lazy.float64


def user_line_of_a_recorded_call() -> tuple[Any, int]:
    x = lazy.asarray(V)
    return lazy.var(x), user_line_of_a_recorded_call.__code__.co_firstlineno + 2


def test_a_recorded_call_has_the_users_line() -> None:
    from pystage.lazy.graph import span_of

    for result, line in [user_line_of_a_recorded_call()]:
        span = span_of(result._node.call.location)
        assert span is not None and (span.file, span.line) == (__file__, line)
