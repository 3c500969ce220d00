"""Random bits from a generator state, by HLO's algorithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ...records import dataclass
from ..hlo.ir import Op
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, Sample
from ..hlo.types import BOOL, FLOAT32, UINT8, UINT32, UINT64, ArrayType, ShapeError, is_unsigned

_STATE_LENGTHS = {"DEFAULT": (1, 2, 3), "THREE_FRY": (2,), "PHILOX": (2, 3)}
_Words = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class RngBitGenerator(HloOp):
    """The next state, and an array of uniform random bits of type `type`. StableHLO: rng_bit_generator.

    The state is uint64, of 2 elements (a key and a counter) for "THREE_FRY", of 2 or 3 for "PHILOX" (a key
    and a counter of 64 or 128 bits; Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011);
    what "DEFAULT" does is the backend's choice.
    """

    opcode = "rng_bit_generator"

    algorithm: str
    type: ArrayType

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ArrayType]:
        """The state's type and `type`; `ShapeError` where the algorithm does not take the state."""
        (state,) = operands
        if self.algorithm not in _STATE_LENGTHS:
            raise ShapeError(f"random bits: {self.algorithm!r} is none of {', '.join(_STATE_LENGTHS)}")
        lengths = _STATE_LENGTHS[self.algorithm]
        if state.dtype != UINT64 or state.rank != 1 or state.shape[0] not in lengths:
            raise ShapeError(f"random bits: {self.algorithm} needs a state u64[{lengths[-1]}], not {state}")
        if not is_unsigned(self.type.dtype):
            raise ShapeError(f"random bits come as unsigned integers, not as {self.type.dtype}")
        return state, self.type

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.rng_bit_generator`."""
        algorithm = stablehlo.RngAlgorithmAttr.get(self.algorithm)
        return e.create(self.opcode, op.results, operands, {"rng_algorithm": algorithm})

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The generators in NumPy, in the order in which XLA lays out their words."""
        (state,) = operands
        shape = self.type.shape
        bits = max(self.type.dtype.itemsize * 8, 32)
        match self.algorithm:
            case "THREE_FRY":
                state, words = _three_fry(state, shape, bits)
            case "PHILOX":
                state, words = _philox(state, shape, bits)
            case _:
                raise NotImplementedError("the algorithm DEFAULT is the backend's choice")
        return state, words.astype(self.type.dtype)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Both algorithms, every width, even and odd extents, counters that overflow."""
        state = np.array([0x0123456789ABCDEF, 42], np.uint64)
        full = np.array([7, 2**64 - 3], np.uint64)
        long = np.array([7, 2**64 - 1, 5], np.uint64)
        made = []
        for dtype in (UINT8, UINT32, UINT64):
            for shape in ((), (7,), (3, 4), (3, 5), (2, 3, 5)):
                made.append(Sample(cls("THREE_FRY", ArrayType(dtype, shape)), (state,)))
            made.append(Sample(cls("PHILOX", ArrayType(dtype, (3, 5))), (long,)))
        made.append(Sample(cls("THREE_FRY", ArrayType(UINT32, (4,))), (full,)))
        made.append(Sample(cls("PHILOX", ArrayType(UINT32, (4,))), (state,)))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """States and element types that the algorithms do not take."""
        state = ArrayType(UINT64, (2,))
        bits = ArrayType(UINT32, (4,))
        return (
            ErrorSample(cls("MERSENNE", bits), (state,), "none of DEFAULT"),
            ErrorSample(cls("THREE_FRY", bits), (state.with_shape((3,)),), "needs a state u64[2]"),
            ErrorSample(cls("PHILOX", bits), (state.with_dtype(UINT32),), "needs a state u64[3]"),
            ErrorSample(cls("PHILOX", bits.with_dtype(FLOAT32)), (state,), "not as float32"),
            ErrorSample(cls("PHILOX", bits.with_dtype(BOOL)), (state,), "not as bool"),
        )


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high half of 64-bit words."""
    return x.astype(np.uint32), (x >> np.uint64(32)).astype(np.uint32)


def _join(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))


def _three_fry(state: np.ndarray, shape: tuple[int, ...], bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Threefry-2x32: one block gives one 64-bit word, or two 32-bit words that lie side by side."""
    key, counter = state
    if bits == 64:
        blocks = shape
    elif not shape:
        blocks, axis = (1,), 0
    else:  # the first even axis is halved, or else the longest one, with one word to spare
        even = [i for i, n in enumerate(shape) if n % 2 == 0]
        axis = even[0] if even else int(np.argmax(shape))
        blocks = (*shape[:axis], (shape[axis] + 1) // 2, *shape[axis + 1 :])
    count = int(np.prod(blocks, dtype=int))
    counters = counter + np.arange(count, dtype=np.uint64).reshape(blocks)
    low, high = [
        word.reshape(blocks) for word in _three_fry_block(_split(counters), _split(np.atleast_1d(key)))
    ]
    following = np.array([key, (np.atleast_1d(counter) + np.uint64(count))[0]], np.uint64)
    if bits == 64:
        return following, _join(low, high)
    if not shape:
        return following, low.reshape(())
    pairs = np.stack([low, high], axis + 1)
    padded = (*shape[:axis], 2 * blocks[axis], *shape[axis + 1 :])
    return following, pairs.reshape(padded).take(range(shape[axis]), axis)


def _three_fry_block(counter: _Words, key: _Words) -> _Words:
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    keys = (*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for distance in rotations[group % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(distance)) | (y >> np.uint32(32 - distance)))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _philox(state: np.ndarray, shape: tuple[int, ...], bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Philox-4x32: one block gives four 32-bit words in a row, or two of 64 bits."""
    size = int(np.prod(shape, dtype=int))
    count = -(-size * bits // 128)
    # without a high word of its own, the counter's high word is the key
    low, high = int(state[1]), int(state[2] if len(state) == 3 else state[0])
    start = low | high << 64
    counters = [start + i for i in range(count + 1)]
    words = [np.array([c >> 32 * i & 0xFFFFFFFF for c in counters], np.uint32) for i in range(4)]
    blocks = _philox_block(tuple([w[:count] for w in words]), _split(state[:1]))
    after = [_join(words[2 * i][-1:], words[2 * i + 1][-1:])[0] for i in range(len(state) - 1)]
    if bits == 64:
        blocks = (_join(*blocks[:2]), _join(*blocks[2:]))
    numbers = np.stack(blocks, axis=-1).reshape(-1)[:size].reshape(shape)
    return np.array([state[0], *after], np.uint64), numbers


def _philox_block(counter: _Words, key: _Words) -> _Words:
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        low0, high0 = _split(x0.astype(np.uint64) * np.uint64(0xD2511F53))
        low1, high1 = _split(x2.astype(np.uint64) * np.uint64(0xCD9E8D57))
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0, k1 = k0 + np.uint32(0x9E3779B9), k1 + np.uint32(0xBB67AE85)
    return x0, x1, x2, x3
