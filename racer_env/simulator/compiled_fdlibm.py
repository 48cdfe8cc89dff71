"""The functions of ``racer_env.fdlibm`` for code that Numba compiles, which calls them as Python does."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from racer_env import fdlibm


@intrinsic
def _bits(_context, _x):
    """Return a double's 64 bits as a whole number."""

    def generate(_target, builder, _signature, values):
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _double(_context, _bits):
    """Return the double that has these 64 bits."""

    def generate(_target, builder, _signature, values):
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), generate


@overload(fdlibm.high_word)
def _high_word(x):
    return lambda x: _bits(x) >> 32


@overload(fdlibm.from_high_word)
def _from_high_word(word):
    return lambda word: _double(word << 32)


_call = register_jitable(error_model="numpy")
_inline = register_jitable(error_model="numpy", forceinline=True)  # the parts of what every tick computes
_call(fdlibm._exponent)
_call(fdlibm._reduce_further)
_call(fdlibm._acos_ratio)
_inline(fdlibm._reduce)
_inline(fdlibm._sin_part)
_inline(fdlibm._cos_part)
_inline(fdlibm._atan)
sin_cos, atan2, acos = _call(fdlibm.sin_cos), _call(fdlibm.atan2), _call(fdlibm.acos)
