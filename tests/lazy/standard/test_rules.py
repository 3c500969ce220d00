"""Type promotion, errors, element types, devices and the exchange of data by the standard's rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from pystage import lazy

F4, F8 = lazy.ones(3, dtype=lazy.float32), lazy.ones(3)
C8 = lazy.ones(3, dtype=lazy.complex64)
I1, I8 = lazy.ones(3, dtype=lazy.int8), lazy.ones(3, dtype=lazy.int64)
U1, U8 = lazy.ones(3, dtype=lazy.uint8), lazy.ones(3, dtype=lazy.uint64)
B = lazy.ones(3, dtype=lazy.bool)


def test_promotion_is_that_of_the_standards_tables() -> None:
    signed, unsigned = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
    mixed = ["int16 int32 int64", "int16 int32 int64", "int32 int32 int64", "int64 int64 int64"]
    floats = ["float32", "float64", "complex64", "complex128"]
    wide = {("float64", "complex64"): "complex128"}
    table: dict[tuple[str, str], str] = {}
    for row in (signed, unsigned):
        table |= {(a, b): row[max(row.index(a), row.index(b))] for a in row for b in row}
    for i, line in zip(signed, mixed, strict=True):
        table |= {(i, u): common for u, common in zip(unsigned, line.split(), strict=False)}
    for a, b in itertools.product(floats, floats):
        low, high = sorted((a, b), key=floats.index)
        table[a, b] = wide.get((low, high), high)
    table["bool", "bool"] = "bool"
    for a, b in itertools.product(lazy.__array_namespace_info__().dtypes(), repeat=2):
        expected = table.get((a, b)) or table.get((b, a))
        first, second = getattr(lazy, a), getattr(lazy, b)
        if expected is None:
            with pytest.raises(TypeError, match="does not mix"):
                lazy.result_type(first, second)
        else:
            assert lazy.result_type(first, second) == expected, (a, b)
        assert lazy.can_cast(first, second) == (expected == b), (a, b)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: lazy.add(I8, F8), "does not mix int64 and float64"),
    (lambda: lazy.add(B, I8), "does not mix bool and int64"),
    (lambda: lazy.add(U8, I8), "does not mix uint64 and int64"),
    (lambda: lazy.add(B, B), "takes numeric arrays, not bool"),
    (lambda: lazy.add(I8, 1.5), "does not mix int64 and a Python float"),
    (lambda: lazy.add(F8, True), "does not mix float64 and a Python bool"),
    (lambda: lazy.logical_and(B, 1), "does not mix bool and a Python int"),
    (lambda: lazy.atan2(F8, 1j), "real-valued floating-point arrays, not complex128"),
    (lambda: lazy.add(1, 2), "at least one lazy tensor"),
    (lambda: lazy.add(F8, np.ones(3)), "takes lazy tensors, not ndarray"),
    (lambda: lazy.sin(I8), "takes floating-point arrays, not int64"),
    (lambda: lazy.floor(C8), "takes real-valued arrays, not complex64"),
    (lambda: lazy.imag(F8), "takes complex floating-point arrays"),
    (lambda: lazy.bitwise_left_shift(B, B), "takes integer arrays"),
    (lambda: lazy.logical_not(I8), "takes boolean arrays"),
    (lambda: lazy.sum(B), "takes numeric arrays, not bool"),
    (lambda: lazy.mean(I8), "takes floating-point arrays"),
    (lambda: lazy.max(C8), "takes real-valued arrays"),
    (lambda: lazy.where(I8, F8, F8), "takes boolean arrays"),
    (lambda: lazy.where(B, F8, I8), "does not mix"),
    (lambda: lazy.concat([F8, I8]), "does not mix"),
    (lambda: lazy.clip(F4, F8), "bounds of the element type"),
    (lambda: lazy.meshgrid(F4, F8), "arrays of one element type"),
    (lambda: lazy.take(F8, F8), "takes integer arrays"),
    (lambda: lazy.astype(C8, lazy.float32), "does not drop the imaginary part"),
    (lambda: lazy.fft.rfft(C8), "real-valued floating-point"),
    (lambda: lazy.linalg.det(lazy.ones((2, 2), dtype=lazy.int64)), "takes floating-point arrays"),
    (lambda: lazy.asarray(["a"]), "no element type"),
    (lambda: lazy.iinfo(lazy.float32), "no integer type"),
    (lambda: lazy.finfo(lazy.int8), "no floating-point type"),
]


def test_what_the_standard_has_no_meaning_for_is_a_type_error() -> None:
    for i, (call, text) in enumerate(REFUSED):
        with pytest.raises(TypeError) as caught:
            call()
        assert text in str(caught.value), i


def test_values_that_do_not_fit_are_value_errors() -> None:
    x = lazy.ones((2, 3))
    refused: list[Callable[[], Any]] = [
        lambda: lazy.cumulative_sum(x),
        lambda: lazy.take(x, I8),
        lambda: lazy.tril(F8),
        lambda: lazy.nonzero(lazy.asarray(1.0)),
        lambda: lazy.unstack(lazy.asarray(1.0)),
        lambda: lazy.squeeze(x, 0),
        lambda: lazy.asarray(np.ones(3), copy=False),
        lambda: lazy.asarray(F8, dtype=lazy.float32, copy=False),
        lambda: lazy.reshape(x.mT, (6,), copy=False),
        lambda: lazy.linalg.qr(x, mode="r"),
        lambda: lazy.linalg.inv(F8),
        lambda: lazy.linalg.outer(x, x),
        lambda: lazy.linalg.cross(x[:, :2], x[:, :2]),
        lambda: lazy.isdtype(lazy.int8, "integer"),
        lambda: lazy.ones(3, device="tpu:77"),
        lambda: F8.to_device(F8.device, stream=1),
        lambda: F8.__array_namespace__(api_version="1999.12"),
    ]
    for i, call in enumerate(refused):
        with pytest.raises(ValueError):
            call()
            raise AssertionError(i)


def test_operators_stay_numpys() -> None:
    """The rules hold for the functions of the namespace; operators, methods and NumPy's functions are NumPy's."""
    assert (I8 + F8).dtype == np.float64 and (B + B).dtype == np.bool_ and np.sin(I8).dtype == np.float64
    assert (U8 + I8).dtype == np.float64 and I8.mean() == 1.0


def test_python_scalars_take_the_type_of_the_array() -> None:
    assert lazy.multiply(F4, 2).dtype == lazy.multiply(2.5, F4).dtype == lazy.float32
    assert lazy.add(I1, 1).dtype == lazy.int8 and lazy.equal(B, True).dtype == lazy.bool
    assert lazy.multiply(F4, 2j).dtype == lazy.complex64 and lazy.pow(C8, 2.0).dtype == lazy.complex64
    assert lazy.multiply(F4, np.float64(2)).dtype == lazy.float32
    assert lazy.where(B, F4, 0.0).dtype == lazy.float32
    assert lazy.result_type(F4, 1j) == lazy.complex64 and lazy.result_type(lazy.int8, 1, U1) == lazy.int16


def test_results_without_axes_are_arrays() -> None:
    total = lazy.sum(F8)
    total[...] = 5.0
    assert type(total) is lazy.LazyTensor and total.ndim == 0 and float(total) == 5.0


def test_types_and_what_is_known_of_them() -> None:
    assert lazy.isdtype(lazy.uint8, ("signed integer", lazy.uint8))
    assert lazy.isdtype(lazy.complex64, "numeric") and not lazy.isdtype(lazy.bool, "numeric")
    half = lazy.finfo(F4)
    assert type(half.eps) is float and (half.bits, half.eps, half.dtype) == (32, 2.0**-23, lazy.float32)
    assert lazy.finfo(lazy.complex128).dtype == lazy.float64
    small = lazy.iinfo(I1)
    assert (small.bits, small.min, small.max, small.dtype) == (8, -128, 127, lazy.int8)
    assert lazy.finfo(jax.numpy.bfloat16).eps == float(jax.numpy.finfo(jax.numpy.bfloat16).eps)
    again = lazy.astype(F4, lazy.float32, copy=False)
    assert again is F4 and lazy.astype(F4, lazy.float32) is not F4
    assert lazy.astype(F4, lazy.bool).dtype == lazy.bool


def test_inspection() -> None:
    info = lazy.__array_namespace_info__()
    assert set(info.capabilities()) == {"boolean indexing", "data-dependent shapes", "max dimensions"}
    assert info.default_device() in info.devices() == jax.devices()
    assert info.default_dtypes()["indexing"] == lazy.argmax(F8).dtype
    assert info.default_dtypes()["real floating"] == lazy.zeros(1).dtype
    assert info.default_dtypes()["complex floating"] == lazy.asarray(1j).dtype
    assert info.default_dtypes()["integral"] == lazy.asarray(1).dtype
    assert list(info.dtypes(kind="integral")) == [k for k in info.dtypes() if "int" in k]
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}


def test_the_namespace_of_a_tensor() -> None:
    assert F8.__array_namespace__() is F8.__array_namespace__(api_version="2024.12") is lazy
    assert lazy.__array_api_version__ == "2024.12"


def test_asarray_copies_or_does_not() -> None:
    x = lazy.asarray([1.0, 2.0])
    assert lazy.asarray(x) is x and lazy.asarray(x, copy=False) is x
    copy = lazy.asarray(x, copy=True)
    copy[0] = 9.0
    assert x.tolist() == [1.0, 2.0] and copy.tolist() == [9.0, 2.0]
    own = np.zeros(2)
    y = lazy.asarray(own)
    own[0] = 9.0
    assert y.tolist() == [0.0, 0.0]
    element = lazy.asarray(x[0])
    element[...] = 7.0
    assert float(element) == 7.0 and x.tolist() == [1.0, 2.0]
    assert lazy.asarray([[x[0], 3], [4.0, x[1]]]).tolist() == [[1.0, 3.0], [4.0, 2.0]]


def test_views_and_copies_of_reshape() -> None:
    x = lazy.zeros((2, 3))
    lazy.reshape(x, (6,), copy=False)[0] = 1.0
    lazy.reshape(x, (6,), copy=True)[1] = 2.0
    assert x.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_dlpack_both_ways() -> None:
    x = lazy.asarray(np.arange(6.0).reshape(2, 3))
    assert np.array_equal(np.from_dlpack(x), np.asarray(x))
    assert np.array_equal(np.from_dlpack(x, device="cpu", copy=True), np.asarray(x))
    assert x.__dlpack_device__()[0] == (1 if x.device.platform == "cpu" else 2)
    source = np.arange(3.0)
    taken = lazy.from_dlpack(source)
    source[0] = 9.0
    assert taken.tolist() == [0.0, 1.0, 2.0]
    assert lazy.from_dlpack(jax.numpy.arange(3)).tolist() == [0, 1, 2]
    assert lazy.from_dlpack(x) is x
    x[0].__dlpack__(copy=False, max_version=(0, 0))
    with pytest.raises(ValueError):
        lazy.from_dlpack(source, copy=False)


def test_devices() -> None:
    device = lazy.__array_namespace_info__().default_device()
    assert F8.to_device(device) is F8 and lazy.asarray(1.0, device=device).device == device
    assert lazy.zeros_like(F8, device=device).device == device


def test_an_index_of_a_scalar_is_a_tensor_and_computes_nothing() -> None:
    scalar = F8.sum()
    same, array, vector = scalar[()], scalar[...], scalar[None]
    assert scalar._node.array is None
    assert [type(x) for x in (same, array, vector)] == [lazy.LazyTensor] * 3
    array[...] = 9.0
    assert (float(scalar), float(same), vector.tolist()) == (3.0, 3.0, [3.0])
    with pytest.raises(IndexError, match="invalid index to scalar variable"):
        scalar[0]
