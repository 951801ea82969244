"""The innermost loop of products in int8, in LLVM's language: a few rows times a block of a matrix, sums in registers.

A compiler does not find the instructions by itself: 16 or 32 products of 16 bits, added in pairs. LLVM joins such a
product and its sum to the one instruction of AVX512-VNNI, which is called differently from version to version. Each way
is compiled for any CPU that has its instructions, not for this one: told of some, LLVM takes the two apart again.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import binding, ir  # type: ignore[import-not-found, import-untyped, unused-ignore]

REGISTERS = 2  # of sums for each row
_engines: list[Any] = []  # they own the code


@dataclass(frozen=True, slots=True)
class Dot:
    """One way to sum products."""

    needs: tuple[str, ...]  # of the CPU, in LLVM's words
    product: str
    lanes: int  # sums in a register
    rows: int  # at most, that share what is read of a matrix; all registers are taken, or none waits for its last sum

    @property
    def block(self) -> int:
        """Outputs that stand together in a packed matrix."""
        return REGISTERS * self.lanes


AVX2 = Dot(("avx2",), "llvm.x86.avx2.pmadd.wd", lanes=8, rows=4)
VNNI = Dot(("avx512bw", "avx512vl", "avx512vnni"), "llvm.x86.avx512.pmaddw.d.512", lanes=16, rows=8)
WAYS = {way.block: way for way in (VNNI, AVX2)}


def lacks(way: Dot) -> list[str]:
    """What a way needs and this CPU, or the system that it runs, has not."""
    has = binding.get_host_cpu_features()
    return [need for need in way.needs if not has.get(need, False)]


@cache
def best() -> Dot:
    for way in WAYS.values():
        if not lacks(way):
            return way
    raise RuntimeError("this CPU has no AVX2")


@cache
def compiled(way: Dot) -> Any:
    """Addresses of the functions for 1, 2, … rows."""
    if missing := lacks(way):
        raise RuntimeError(
            f"this matrix was packed for a CPU with {', '.join(way.needs)}, and this one has no {missing[0]}; "
            "quantize the model on this machine"
        )
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module, names = ir.Module(), [f"dot{rows}" for rows in range(1, way.rows + 1)]
    module.triple = binding.get_process_triple()
    for rows, name in enumerate(names, 1):
        _write(module, name, way, rows)
    parsed = binding.parse_assembly(str(module))
    target = binding.Target.from_triple(module.triple)
    machine = target.create_target_machine("x86-64", ",".join(f"+{need}" for need in way.needs), opt=3)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    _engines.append(engine)
    return (ctypes.c_int64 * way.rows)(*map(engine.get_function_address, names))


def _write(module: Any, name: str, way: Dot, rows: int) -> None:
    """Add the function for so many rows to a module.

    Its arguments are addresses and counts: a block of weights; x, the bytes from one row of it to the next, and the
    pairs of inputs in each, behind which the row's own scale stands; scales and constants of the outputs; y, and the
    bytes from one row of it to the next.
    """
    i8, i16, i32, i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
    bytes_, shorts = (ir.VectorType(kind, 2 * way.lanes) for kind in (i8, i16))
    sums, floats = (ir.VectorType(kind, way.lanes) for kind in (i32, ir.FloatType()))
    zeros, places = ir.Constant(sums, [0] * way.lanes), range(REGISTERS)
    add_pairs = module.globals.get(way.product) or ir.Function(
        module, ir.FunctionType(sums, [shorts, shorts]), way.product
    )
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [i64] * 8), name)
    weights, x, x_stride, pairs, scales, constants, y, y_stride = function.args
    before, loop, after = (function.append_basic_block() for _ in range(3))
    build = ir.IRBuilder(before)

    def at(start: Any, count: Any, size: int) -> Any:
        """An address so many things of a size further."""
        count = ir.Constant(i64, count) if isinstance(count, int) else count
        return build.add(start, build.mul(count, ir.Constant(i64, size)))

    def load(address: Any, kind: Any, align: int) -> Any:
        found = build.load(build.inttoptr(address, kind.as_pointer()))
        found.align = align
        return found

    def spread(number: Any, kind: Any) -> Any:
        """A register that has this number in every lane."""
        first = build.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(i32, 0))
        return build.shuffle_vector(first, first, zeros)

    build.branch(loop)
    build.position_at_end(loop)
    pair, kept = build.phi(i64), [build.phi(sums) for _ in range(rows * REGISTERS)]
    here = at(weights, pair, 2 * way.block)
    block = [build.sext(load(at(here, i, 2 * way.lanes), bytes_, 1), shorts) for i in places]
    grown: list[Any] = []
    for row in range(rows):
        two = spread(load(at(at(x, x_stride, row), pair, 4), i32, 4), sums)
        products = [build.call(add_pairs, [block[i], build.bitcast(two, shorts)]) for i in places]
        grown += [build.add(kept[row * REGISTERS + i], products[i]) for i in places]
    later = at(pair, 1, 1)
    pair.add_incoming(ir.Constant(i64, 0), before)
    pair.add_incoming(later, loop)
    for old, new in zip(kept, grown, strict=True):
        old.add_incoming(zeros, before)
        old.add_incoming(new, loop)
    build.cbranch(build.icmp_signed("<", later, pairs), loop, after)

    build.position_at_end(after)
    scale, constant = ([load(at(start, i, 4 * way.lanes), floats, 4) for i in places] for start in (scales, constants))
    for row in range(rows):
        own = spread(load(at(at(x, x_stride, row), pairs, 4), ir.FloatType(), 4), floats)
        for i in places:
            product = build.fmul(build.fmul(build.sitofp(grown[row * REGISTERS + i], floats), scale[i]), own)
            there = build.inttoptr(at(at(y, y_stride, row), i, 4 * way.lanes), floats.as_pointer())
            build.store(build.fadd(product, constant[i]), there).align = 4
    build.ret_void()
