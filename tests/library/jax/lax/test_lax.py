"""`jax.lax`: each meaning against the function that it stands for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from sampling import ALL

from library.harness import Known, check, check_call, refused
from pystage.compiler.library.jax.lax.elementwise import _ACCURATE, _BINARY, _UNARY
from pystage.compiler.values.lattice import Const

F32 = jnp.asarray([[0.3, -0.8, 0.9], [0.1, 0.7, -0.2]], jnp.float32)
I32 = jnp.asarray([[3, -8, 9], [1, 7, -2]], jnp.int32)
U32 = jnp.asarray([[3, 8, 9], [1, 0, 2]], jnp.uint32)
C64 = F32 + 1j * F32[::-1]
B = F32 > 0
OPERANDS = {"f32": F32, "i32": I32, "u32": U32, "c64": C64, "bool": B, "f16": F32.astype(jnp.float16)}


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


def cases(table):
    return [pytest.param(function, id=function.__name__) for function, *_ in table]


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("function", cases(_UNARY + _ACCURATE))
def test_unary(function, kind):
    operand = OPERANDS[kind]
    operand = operand + 1 if function is lax.acosh and kind != "bool" else operand
    check_call(function, operand)


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("function", cases(_BINARY))
def test_binary(function, kind):
    x = OPERANDS[kind]
    y = x[::-1] if x.dtype.kind not in "iu" else jnp.abs(x[::-1]) + 1
    check_call(function, x, y.astype(x.dtype))


@pytest.mark.parametrize("function", [lax.add, lax.div, lax.lt, lax.max, lax.pow])
@pytest.mark.parametrize(
    "operands",
    [
        (F32, 2.0),
        (F32, 2),
        (2.0, F32),
        (1.5, 2.5),
        (F32, np.float64(2)),
        (F32, np.ones((2, 3))),
        (F32, F32[:1]),
        (F32, F32[0]),
        (F32, F32[:, :2]),
        (F32, jnp.float32(3)),
        (F32, I32),
        (np.float32(3), np.float32(2)),
        (np.ones((2, 3), np.int64), I32),
    ],
    ids=lambda pair: "-".join(f"{type(x).__name__}{np.shape(x)}" for x in pair),
)
def test_operands_of_other_kinds(function, operands, x64):
    check_call(function, *operands)


def test_lists_and_tuples_are_no_operands():
    check_call(lax.add, [1.0, 2.0], F32)
    check_call(lax.add, (1.0, 2.0), F32)


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize(
    "function", [lax.max, lax.min, lax.mul, lax.square, lax.sign, lax.exp2, lax.logistic]
)
def test_composed(function, kind):
    x = OPERANDS[kind]
    check_call(function, *([x] if function not in (lax.max, lax.min, lax.mul) else [x, x[::-1]]))


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("function", [lax.conj, lax.reciprocal, lax.stop_gradient])
def test_more_unary(function, kind):
    check_call(function, OPERANDS[kind])


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 7])
def test_integer_pow(exponent):
    check_call(lax.integer_pow, F32, Known(exponent))
    check_call(lax.integer_pow, I32, Known(exponent))
    check_call(lax.integer_pow, 1.5, Known(exponent))


@pytest.mark.parametrize("method", list(lax.RoundingMethod))
def test_round(method):
    check_call(lax.round, F32 * 5, Known(method))
    check_call(lax.round, jnp.asarray([0.5, 1.5, -0.5]), rounding_method=Known(method))


def test_options_that_only_jax_serves():
    check_call(lax.exp, F32, accuracy=Known(lax.AccuracyMode.DEFAULT))
    check_call(lax.mul, F32, F32, out_dtype=Known(jnp.float32))


def test_select():
    check_call(lax.select, B, F32, -F32)
    check_call(lax.select, True, F32, -F32)
    check_call(lax.select, B, F32, I32)
    check_call(lax.select, B[0], F32, F32)
    which = jnp.asarray([[0, 1, 2], [2, 1, 0]])
    check_call(lax.select_n, which, F32, F32 + 1, F32 + 2)
    check_call(lax.select_n, jnp.int32(1), F32, F32 + 1, F32 + 2)
    check_call(lax.select_n, B, F32, F32 + 1, F32 + 2)
    check_call(lax.select_n, B, F32)


def test_clamp():
    check_call(lax.clamp, -0.5, F32, 0.5)
    check_call(lax.clamp, -F32, F32, jnp.float32(0.5))
    check_call(lax.clamp, 0, I32, 5)
    check_call(lax.clamp, 0.0, I32, 5)
    check_call(lax.clamp, F32[0], F32, 1.0)


@pytest.mark.skipif(not ALL, reason="the kernel emitter of `make test` has no clamp of booleans")
def test_clamp_of_booleans():
    check_call(lax.clamp, False, B, True)


@pytest.mark.parametrize("dtype", [jnp.float32, np.float64, "int8", bool, complex, jnp.bfloat16, np.uint16])
@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.filterwarnings("ignore:Casting complex values", "ignore:Explicitly requested dtype")
def test_convert(kind, dtype, x64):
    operand = jnp.abs(OPERANDS[kind].real) if kind in ("f32", "c64", "i32", "f16") else OPERANDS[kind]
    check_call(lax.convert_element_type, operand, Known(dtype))


def test_convert_strips_the_weak_type():
    check_call(lax.convert_element_type, 1.5, Known(jnp.float32))


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.uint8, jnp.float32, bool, jnp.int16])
def test_bitcast(dtype):
    check_call(lax.bitcast_convert_type, F32, Known(dtype))
    check_call(lax.bitcast_convert_type, jnp.asarray([[1, 2, 3, 4]], jnp.uint8), Known(dtype))


def test_stop_gradient_of_structures():
    check_call(lax.stop_gradient, {"a": F32, "b": (I32, None)})


# ---------------------------------------------------------------- shapes

SHAPES = {
    "broadcast": (lax.broadcast, (F32, Known((4, 1)))),
    "broadcast scalar": (lax.broadcast, (2.5, Known((4, 1)))),
    "broadcast_in_dim": (lax.broadcast_in_dim, (F32[0], Known((2, 3, 4)), Known((1,)))),
    "broadcast_in_dim of 1": (lax.broadcast_in_dim, (F32[:1], Known((5, 3)), Known((0, 1)))),
    "broadcast_in_dim misfit": (lax.broadcast_in_dim, (F32[0], Known((2, 4)), Known((1,)))),
    "broadcast_in_dim order": (lax.broadcast_in_dim, (F32, Known((3, 2)), Known((1, 0)))),
    "broadcast_to_rank": (lax.broadcast_to_rank, (F32, Known(4))),
    "reshape": (lax.reshape, (F32, Known((3, 2)))),
    "reshape flat": (lax.reshape, (F32, Known(6))),
    "reshape order": (lax.reshape, (F32, Known((3, 2)), Known((1, 0)))),
    "reshape misfit": (lax.reshape, (F32, Known((3, 3)))),
    "reshape scalar": (lax.reshape, (2.5, Known((1, 1)))),
    "collapse": (lax.collapse, (F32[None], Known(0), Known(2))),
    "collapse all": (lax.collapse, (F32[None], Known(0))),
    "transpose": (lax.transpose, (F32[None], Known((2, 0, 1)))),
    "transpose none": (lax.transpose, (F32, Known((0, 1)))),
    "transpose misfit": (lax.transpose, (F32, Known((0, 0)))),
    "squeeze": (lax.squeeze, (F32[None, :, None], Known((0, -2)))),
    "squeeze misfit": (lax.squeeze, (F32, Known((0,)))),
    "expand_dims": (lax.expand_dims, (F32, Known((0, -1)))),
    "rev": (lax.rev, (F32, Known((1,)))),
    "rev misfit": (lax.rev, (F32, Known((2,)))),
    "tile": (lax.tile, (F32, Known((2, 3)))),
    "tile misfit": (lax.tile, (F32, Known((2,)))),
    "pad": (lax.pad, (F32, 0.0, Known(((1, 2, 0), (0, -1, 2))))),
    "pad misfit": (lax.pad, (F32, 0, Known(((1, 2, 0), (0, -1, 2))))),
    "iota": (lax.iota, (Known(jnp.int32), Known(5))),
    "iota float": (lax.iota, (Known(float), Known(5))),
    "broadcasted_iota": (lax.broadcasted_iota, (Known("uint8"), Known((2, 3)), Known(1))),
    "broadcasted_iota misfit": (lax.broadcasted_iota, (Known("uint8"), Known((2, 3)), Known(2))),
    "full": (lax.full, (Known((2, 3)), 1.5)),
    "full dtype": (lax.full, (Known((2, 3)), 1.5, Known(jnp.int32))),
    "full of an array": (lax.full, (Known((2, 3)), F32)),
    "full int shape": (lax.full, (Known(3), jnp.float32(2))),
    "full_like": (lax.full_like, (F32, 2)),
    "full_like weak": (lax.full_like, (2.5, 2)),
    "full_like dtype": (lax.full_like, (F32, 2, Known(jnp.int32))),
    "full_like shape": (lax.full_like, (F32, 2, Known(None), Known((1, 2)))),
    "split": (lax.split, (F32, Known((1, 2)), Known(1))),
    "split misfit": (lax.split, (F32, Known((1, 1)), Known(1))),
    "unstack": (lax.unstack, (F32, Known(1))),
    "concatenate": (lax.concatenate, ([F32, F32[:1]], Known(0))),
    "concatenate tuple": (lax.concatenate, ((F32, F32), Known(1))),
    "concatenate misfit": (lax.concatenate, ([F32, F32], Known(2))),
    "concatenate dtypes": (lax.concatenate, ([F32, I32], Known(0))),
    "stack": (lax.stack, ([F32, F32], Known(-1))),
    "stack misfit": (lax.stack, ([F32, F32[:1]],)),
    "slice": (lax.slice, (F32, Known((0, 1)), Known((2, 3)))),
    "slice strides": (lax.slice, (F32, Known((0, 0)), Known((2, 3)), Known((1, 2)))),
    "slice misfit": (lax.slice, (F32, Known((0, 0)), Known((2, 4)))),
    "slice_in_dim": (lax.slice_in_dim, (F32, Known(-2), Known(None), Known(1), Known(1))),
    "slice_in_dim stride": (lax.slice_in_dim, (F32, Known(None), Known(-1), Known(2), Known(-1))),
    "index_in_dim": (lax.index_in_dim, (F32, Known(-1), Known(1))),
    "index_in_dim dropped": (lax.index_in_dim, (F32, Known(1), Known(0), Known(False))),
    "barrier": (lax.optimization_barrier, ((F32, {"a": 1.5}),)),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes(case, x64):
    function, args = SHAPES[case]
    check_call(function, *args)


@pytest.mark.parametrize("i", [0, 1, 5, -1, -7, np.int8(-1), np.uint8(1), jnp.int16(1)], ids=repr)
@pytest.mark.parametrize("known", [False, True])
def test_dynamic_slices(i, known, x64):
    known = known and not isinstance(i, jax.Array)
    index = Known(i) if known else i
    check_call(lax.dynamic_slice, F32, Known((i, 0)) if known else [i, 0], Known((1, 2)))
    check_call(lax.dynamic_slice, F32, Known((i, i)) if known else (i, i), Known((2, 1)))
    check_call(lax.dynamic_update_slice, F32, F32[:1, :2] * 9, Known((0, i)) if known else (i, i))
    check_call(lax.dynamic_slice_in_dim, F32, index, Known(2), Known(1))
    check_call(lax.dynamic_index_in_dim, F32, index, Known(1))
    check_call(lax.dynamic_index_in_dim, F32, index, keepdims=Known(False))
    check_call(lax.dynamic_update_slice_in_dim, F32, F32[:, :1] * 9, index, Known(1))
    check_call(lax.dynamic_update_index_in_dim, F32, F32[0] * 9, index, Known(0))
    check_call(lax.dynamic_update_index_in_dim, F32, F32[:, :1] * 9, index, Known(-1))


def test_dynamic_slice_refusals():
    check_call(lax.dynamic_slice, F32, [0], Known((1, 2)))
    check_call(lax.dynamic_slice, F32, [0.5, 0], Known((1, 2)))
    check_call(lax.dynamic_slice, F32, [0, 0], Known((1, 4)))
    check_call(lax.dynamic_slice, F32, Known((-1, 0)), Known((1, 2)), allow_negative_indices=Known(False))
    check_call(lax.dynamic_update_slice, F32, I32, (0, 0))
    check_call(lax.dynamic_slice, F32, jnp.asarray([1, 0]), Known((1, 2)))


# ---------------------------------------------------------------- products


def f32(*shape):
    return jnp.asarray(np.random.default_rng(sum(shape)).standard_normal(shape), jnp.float32)


@pytest.mark.parametrize(
    ("left", "right"), [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((2, 3), (2, 3))]
)
def test_dot(left, right):
    check_call(lax.dot, f32(*left), f32(*right))


def test_dot_options():
    x, y = f32(2, 3, 4), f32(2, 4, 5)
    check_call(lax.dot_general, x, y, Known((((2,), (1,)), ((0,), (0,)))))
    check_call(lax.dot_general, x, y, Known((((1,), (1,)), ((0,), (0,)))))
    check_call(lax.batch_matmul, x, y)
    check_call(lax.batch_matmul, x, y[0])
    check_call(lax.dot, x[0], y[0], precision=Known("highest"))
    check_call(lax.dot, x[0], y[0], precision=Known((lax.Precision.HIGHEST, lax.Precision.DEFAULT)))
    check_call(lax.dot, x[0], y[0].astype(int), preferred_element_type=Known(jnp.float32))
    check_call(lax.dot, I32, I32.T, preferred_element_type=Known(jnp.float32))
    check_call(lax.dot, B, B.T)


CONVOLUTIONS = {
    "same": {"window_strides": (1, 1), "padding": "SAME"},
    "same stride": {"window_strides": (2, 1), "padding": "SAME"},
    "lower": {"window_strides": (2, 2), "padding": "SAME_LOWER"},
    "valid": {"window_strides": (1, 1), "padding": "VALID"},
    "pairs": {"window_strides": (1, 1), "padding": ((1, 2), (0, 1))},
    "list": {"window_strides": [1, 1], "padding": [(1, 2), [0, 1]]},
    "dilated kernel": {"window_strides": (1, 1), "padding": "SAME", "rhs_dilation": (2, 1)},
    "dilated image": {"window_strides": (1, 1), "padding": ((1, 1), (0, 0)), "lhs_dilation": (2, 2)},
    "dilated image by name": {"window_strides": (1, 1), "padding": "VALID", "lhs_dilation": (1, 1)},
    "bad name": {"window_strides": (1, 1), "padding": "FULL"},
    "bad strides": {"window_strides": (1,), "padding": "VALID"},
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize(
    "numbers",
    [
        ("NHWC", "HWIO", "NHWC"),
        ("NHWC", "HWIO", "NCHW"),
        lax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2)),
    ],
    ids=["nhwc", "nchw", "numbers"],
)
def test_convolution(case, numbers):
    options = {key: Known(value) for key, value in CONVOLUTIONS[case].items()}
    check_call(
        lax.conv_general_dilated,
        f32(2, 6, 7, 3),
        f32(3, 2, 3, 4),
        dimension_numbers=Known(numbers),
        **options,
    )


def test_convolution_defaults_and_groups():
    x, k = f32(4, 4, 6, 6), f32(6, 2, 3, 3)
    ones = Known((1, 1))
    check_call(lax.conv, x, f32(6, 4, 3, 3), ones, Known("SAME"))
    check_call(lax.conv, x, k, ones, Known("SAME"))
    check_call(lax.conv, x, I32, ones, Known("SAME"))
    check_call(lax.conv_general_dilated, x, k, ones, Known("SAME"), feature_group_count=Known(2))
    check_call(
        lax.conv_general_dilated, x, k[:, :1].repeat(4, 1), ones, Known("SAME"), batch_group_count=Known(2)
    )
    check_call(lax.conv_general_dilated, x, f32(6, 4, 3, 3), ones, Known("SAME"), precision=Known("high"))
    check_call(lax.conv_general_dilated, x + 0j, f32(6, 4, 3, 3) + 1j, ones, Known("SAME"))
    check_call(
        lax.conv_with_general_padding,
        x,
        f32(6, 4, 3, 3),
        ones,
        Known(((1, 1), (2, 2))),
        Known((1, 2)),
        Known((2, 1)),
    )


# ---------------------------------------------------------------- reductions


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize(
    "function",
    [
        lax.reduce_sum,
        lax.reduce_prod,
        lax.reduce_max,
        lax.reduce_min,
        lax.reduce_and,
        lax.reduce_or,
        lax.reduce_xor,
    ],
)
@pytest.mark.parametrize("axes", [(0,), (0, 1), (1,), (-1,)])
def test_named_reductions(function, kind, axes):
    check_call(function, OPERANDS[kind], Known(axes))


@pytest.mark.parametrize(
    ("function", "start"),
    [
        (lax.add, 0.0),
        (lax.add, 0),
        (lax.add, 1.5),
        (lax.add, 1),
        (lax.mul, 1.0),
        (lax.max, -np.inf),
        (lax.max, 0.0),
        (lax.min, np.inf),
        (jnp.add, 0.0),
        (lax.add, np.float32(0)),
        (lax.max, -jnp.inf),
    ],
)
def test_reduce(function, start):
    check_call(lax.reduce, F32, Known(start), Known(function), Known((1,)))
    check_call(lax.reduce_window, F32, Known(start), Known(function), Known((2, 2)))
    check_call(lax.reduce_window, I32, Known(start), Known(function), Known((2, 2)))


def test_reduce_from_a_dynamic_start():
    check_call(lax.reduce, F32, jnp.float32(0), Known(lax.add), Known((1,)))
    check_call(lax.reduce_window, F32, jnp.float32(2), Known(lax.add), Known((2, 2)))


WINDOWS = {
    "strides": {"window_strides": (1, 2)},
    "same": {"padding": "SAME", "window_strides": (2, 1)},
    "lower": {"padding": "SAME_LOWER", "window_strides": (2, 2)},
    "pairs": {"padding": ((1, 0), (0, 2))},
    "base": {"base_dilation": (2, 1)},
    "window": {"window_dilation": (1, 2), "padding": "SAME", "window_strides": (1, 1)},
    "same without strides": {"padding": "SAME"},
    "bad": {"padding": "FULL"},
    "bad strides": {"window_strides": (1,)},
}


@pytest.mark.parametrize("case", WINDOWS)
def test_reduce_window(case):
    options = {key: Known(value) for key, value in WINDOWS[case].items()}
    check_call(lax.reduce_window, f32(5, 6), Known(-jnp.inf), Known(lax.max), Known((2, 2)), **options)


def test_reduce_window_refuses_what_is_more_than_one_operation():
    refused(
        "PS203",
        lambda ctx, x: ctx.call(Const(lax.reduce_window), [x, Const(0.0), Const(lax.sub), Const((2, 2))]),
        F32,
    )


# ---------------------------------------------------------------- order and transforms


@pytest.mark.parametrize("kind", OPERANDS)
def test_sort(kind):
    x = OPERANDS[kind]
    check_call(lax.sort, x)
    check_call(lax.sort, x, Known(0))
    check_call(lax.sort, [x, F32], num_keys=Known(2))
    check_call(lax.sort_key_val, x, I32)


def test_sort_refusals():
    check_call(lax.sort, F32, Known(2))
    check_call(lax.sort, [F32, F32], num_keys=Known(3))
    check_call(lax.sort, [F32, F32[:1]])


@pytest.mark.parametrize("kind", ["f32", "i32", "c64"])
@pytest.mark.parametrize("name", ["FFT", "ifft", lax.FftType.RFFT, lax.FftType.IRFFT])
def test_fft(kind, name, x64):
    length = 4 if name is lax.FftType.IRFFT else 3
    check_call(lax.fft, OPERANDS[kind], Known(name), Known((length,)))
    check_call(lax.fft, OPERANDS[kind], Known(name), Known(()))


THROUGH_JAX = {
    "argmax": (lax.argmax, (F32, Known(1), Known(jnp.int32))),
    "cumsum": (lax.cumsum, (F32, Known(1))),
    "cummax": (lax.cummax, (I32,), {"reverse": Known(True)}),
    "top_k": (lax.top_k, (F32, Known(2))),
    "conv_transpose": (
        lax.conv_transpose,
        (f32(1, 4, 4, 2), f32(3, 3, 2, 3), Known((2, 2)), Known("SAME")),
    ),
    "betainc": (lax.betainc, (F32**2 + 1, F32**2 + 1, F32**2 / 2)),
    "bessel": (lax.bessel_i0e, (F32,)),
    "reduce_precision": (lax.reduce_precision, (F32, Known(5), Known(10))),
    "cholesky": (lax.linalg.cholesky, (jnp.eye(3) * 2,)),
    "mulhi": (lax.mulhi, (I32, I32)),
    "rng_bit_generator": (lax.rng_bit_generator, (jnp.arange(4, dtype=jnp.uint32), Known((2, 3)))),
    "gather": (
        lax.gather,
        (
            F32,
            jnp.asarray([[1], [0]]),
            Known(lax.GatherDimensionNumbers((1,), (0,), (0,))),
            Known((1, 3)),
        ),
    ),
    "scatter_add": (
        lax.scatter_add,
        (
            F32,
            jnp.asarray([[1], [0]]),
            F32,
            Known(lax.ScatterDimensionNumbers((1,), (0,), (0,))),
        ),
    ),
    "associative_scan": (lax.associative_scan, (Known(jnp.add), F32)),
}


@pytest.mark.parametrize("case", THROUGH_JAX)
def test_what_goes_to_jax_as_a_whole(case, x64):
    function, args, *options = THROUGH_JAX[case]
    check_call(function, *args, **(options[0] if options else {}))


def test_a_function_of_jax_is_checked_as_written():
    """The harness itself fails where a meaning and its function differ."""
    with pytest.raises(AssertionError):
        check(lambda ctx, x: ctx.call(Const(lax.neg), [x]), lax.abs, -F32)
