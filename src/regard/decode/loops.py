"""Loops over packed matrices, compiled by numba (the extra `fast`) and run by torch's own threads.

Imported by `regard.decode.rows.loops` alone, and only once a matrix is large enough to want them. numba's threads and
torch's OpenMP threads take the cores from each other, which halves the speed of both; so a loop is a function of C
that torch's OpenMP library calls in each of its threads.

A matrix lies in blocks of outputs: all inputs of the first block, then all of the second; within a block, the numbers
of one input (float32) or of two neighbouring inputs (int8) stand side by side for all outputs. A sum is then kept for
each output in a register, and memory is read from front to back. The sums of int8 are in `regard.decode.dots`.
"""

import ctypes
from typing import Any, no_type_check

import numpy as np
import torch
from llvmlite import binding, ir  # type: ignore[import-not-found, import-untyped, unused-ignore]
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined, import-not-found, unused-ignore]
from numba.core import cgutils  # type: ignore[import-not-found, unused-ignore]
from numba.extending import intrinsic  # type: ignore[import-not-found, unused-ignore]
from torch import Tensor

from regard.decode import dots

BLOCK = 64  # outputs that oneDNN keeps together in float32
MOST = 127  # of a weight in int8
TILE = 3 << 15  # numbers of 16 bits that half of a core's second cache holds
QUIET = np.float32(1e-30)  # a row that is no louder is 0

dots.best()  # raises where no way is; then there are no loops
_gomp = ctypes.CDLL("libgomp.so.1")  # the one that torch has loaded
_parallel = _gomp.GOMP_parallel
_parallel.argtypes, _parallel.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint], None
# By names of our own: another library's OpenMP may be loaded too, and would count other threads.
for _name, _function in (
    ("regard_thread", _gomp.omp_get_thread_num),
    ("regard_threads", _gomp.omp_get_num_threads),
    ("regard_barrier", _gomp.GOMP_barrier),
):
    binding.add_symbol(_name, ctypes.cast(_function, ctypes.c_void_p).value)
_thread = types.ExternalFunction("regard_thread", types.int32())
_threads = types.ExternalFunction("regard_threads", types.int32())
_barrier = types.ExternalFunction("regard_barrier", types.void())


def multiply(x: Tensor, packed: int, bias: Tensor, outputs: int) -> Tensor:
    """One row times a float32 matrix that oneDNN has packed at this address."""
    y = x.new_empty(*x.shape[:-1], outputs)
    _run(_float_row, outputs, x.shape[-1], x.contiguous().data_ptr(), packed, bias.data_ptr(), y.data_ptr())
    return y


def multiply_int8(x: Tensor, packed: Tensor, scale: Tensor, bias: Tensor, outputs: int) -> Tensor:
    """Rows times an int8 matrix; each row is rounded to 16 bits or as many as its sums leave, by a scale of its own."""
    x, inputs = x.contiguous(), x.shape[-1]
    rows = x.numel() // inputs
    y, rounded = x.new_empty(*x.shape[:-1], outputs), x.new_empty(rows, even(inputs) // 2 + 1)
    most = min(2**15 - 1, (2**31 - 1) // (MOST * inputs))  # so that no sum of products passes 32 bits
    way = dots.WAYS[packed.shape[2]]  # a matrix is read the way it was packed
    _run(
        _int8_rows,
        *(outputs, inputs, rows, most, x.data_ptr(), rounded.data_ptr()),
        *(packed.data_ptr(), scale.data_ptr(), bias.data_ptr(), y.data_ptr()),
        *(way.block, way.rows, ctypes.addressof(dots.compiled(way))),
    )
    return y


def pack_int8(rounded: Tensor) -> Tensor:
    """An int8 matrix in blocks of outputs, pairs of inputs side by side; what is missing at its edges is 0."""
    (outputs, inputs), block = rounded.shape, dots.best().block
    whole = rounded.new_zeros(-(-outputs // block) * block, even(inputs))
    whole[:outputs, :inputs] = rounded
    return whole.view(-1, block, whole.shape[1] // 2, 2).transpose(1, 2).contiguous()


def lies_in_blocks(weight: Tensor, packed: int, size: int) -> bool:
    """Whether what oneDNN has packed at this address is the matrix in blocks, as `multiply` reads it.

    oneDNN chooses its layout by CPU and version, and says it to nobody; so what is there is compared.
    """
    outputs, inputs = weight.shape
    depth = -(-inputs // 16) * 16
    if size != -(-outputs // BLOCK) * BLOCK * depth * 4:
        return False
    there = np.ctypeslib.as_array(ctypes.cast(packed, ctypes.POINTER(ctypes.c_float)), (size // 4,))
    blocks = torch.from_numpy(there).view(-1, depth, BLOCK)[:, :inputs].transpose(1, 2).reshape(-1, inputs)[:outputs]
    return blocks.equal(weight)


def even(inputs: int) -> int:
    return inputs + inputs % 2


def _run(worker: Any, *numbers: int) -> None:
    """Call a loop in each of torch's threads; its arguments are sizes and addresses."""
    _parallel(worker.address, (ctypes.c_int64 * len(numbers))(*numbers), torch.get_num_threads(), 0)


def _pointer(kind: Any) -> Any:
    """What makes a pointer of an address."""

    @no_type_check
    @intrinsic
    def point(_context, _address):
        def generate(context, builder, _signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(kind)))

        return types.CPointer(kind)(types.int64), generate

    return point


_kinds = (types.int16, types.int32, types.int64, types.float32)
_int16s, _int32s, _int64s, _floats = (_pointer(kind) for kind in _kinds)


@no_type_check
@intrinsic
def _dot(_context, _function, numbers):
    """Call a function of `regard.decode.dots` by its address."""

    def generate(context, build, _signature, arguments):
        given = cgutils.unpack_tuple(build, arguments[1])
        function = ir.FunctionType(ir.VoidType(), [each.type for each in given])
        build.call(build.inttoptr(arguments[0], function.as_pointer()), given)
        return context.get_dummy_value()

    return types.void(types.int64, numbers), generate


@cfunc(types.void(types.CPointer(types.int64)), cache=True, fastmath={"contract", "nsz", "reassoc"})
@no_type_check
def _float_row(numbers):
    outputs, inputs = numbers[0], numbers[1]
    depth, blocks = (inputs + 15) // 16 * 16, (outputs + BLOCK - 1) // BLOCK
    x, packed = carray(_floats(numbers[2]), (inputs,)), carray(_floats(numbers[3]), (blocks, depth, BLOCK))
    bias, y = carray(_floats(numbers[4]), (outputs,)), carray(_floats(numbers[5]), (outputs,))
    me, threads = np.int64(_thread()), np.int64(_threads())
    sums = np.empty(BLOCK, np.float32)
    for block in range(blocks * me // threads, blocks * (me + 1) // threads):
        weights = packed[block]
        sums[:] = np.float32(0)
        # Four inputs at a time, so that sums are loaded and stored a quarter as often.
        for i in range(0, inputs - 3, 4):
            a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
            for o in range(BLOCK):
                sums[o] += a * weights[i, o] + b * weights[i + 1, o] + c * weights[i + 2, o] + d * weights[i + 3, o]
        for i in range(inputs // 4 * 4, inputs):
            for o in range(BLOCK):
                sums[o] += x[i] * weights[i, o]
        first = block * BLOCK
        for o in range(min(BLOCK, outputs - first)):
            y[first + o] = sums[o] + bias[first + o]


@njit
@no_type_check
def _loudest(bits):
    """The bits of the largest magnitude in a row; those of a float without its sign are ordered as it is, NaN last."""
    found = np.int32(0)
    for i in range(len(bits)):
        found = max(found, np.int32(bits[i] & np.int32(0x7FFFFFFF)))
    return found


@njit
@no_type_check
def _round(x, factor, out):
    for i in range(len(x)):
        out[i] = np.int16(np.rint(x[i] * factor))


@cfunc(types.void(types.CPointer(types.int64)), cache=True)
@no_type_check
def _int8_rows(numbers):
    outputs, inputs, rows, most = numbers[0], numbers[1], numbers[2], numbers[3]
    width, most_rows = numbers[10], numbers[11]
    depth, blocks = (inputs + 1) // 2 * 2, (outputs + width - 1) // width
    stride = depth + 2  # behind each rounded row stands its scale
    x, bits = carray(_floats(numbers[4]), (rows, inputs)), carray(_int32s(numbers[4]), (rows, inputs))
    rounded = carray(_int16s(numbers[5]), (rows, stride))
    halves = (rows, stride // 2)
    scales, scale_bits = carray(_floats(numbers[5]), halves), carray(_int32s(numbers[5]), halves)
    scale, bias = carray(_floats(numbers[7]), (outputs,)), carray(_floats(numbers[8]), (outputs,))
    y, functions = carray(_floats(numbers[9]), (rows, outputs)), carray(_int64s(numbers[12]), (most_rows,))
    me, threads = np.int64(_thread()), np.int64(_threads())
    for row in range(me, rows, threads):
        scale_bits[row, -1] = _loudest(bits[row])
        loudest = np.float32(1) if scales[row, -1] < QUIET else scales[row, -1]
        _round(x[row], np.float32(most) / loudest, rounded[row])
        scales[row, -1] = loudest / np.float32(most)
        if depth > inputs:
            rounded[row, inputs] = 0
    if threads > 1:
        _barrier()  # every row is rounded before anybody reads it
    last = np.zeros((most_rows + 2, width), np.float32)  # y, scale and bias of a block that is wider than what is left
    some = max(most_rows, TILE // depth // most_rows * most_rows)  # rows that stay in the cache while blocks pass by
    for start in range(0, rows, some):
        end = min(rows, start + some)
        for block in range(blocks * me // threads, blocks * (me + 1) // threads):
            first = block * width
            left = outputs - first
            of_outputs = (scale[first:].ctypes.data, bias[first:].ctypes.data)
            if left < width:
                last[-2, :left], last[-1, :left] = scale[first:], bias[first:]
                of_outputs = (last[-2].ctypes.data, last[-1].ctypes.data)
            for row in range(start, end, most_rows):
                count = min(most_rows, end - row)
                here = (rounded[row].ctypes.data, 2 * stride, depth // 2)
                there = (last.ctypes.data, 4 * width) if left < width else (y[row, first:].ctypes.data, 4 * outputs)
                _dot(functions[count - 1], (numbers[6] + first * depth, *here, *of_outputs, *there))
                if left < width:
                    y[row : row + count, first:] = last[:count, :left]
