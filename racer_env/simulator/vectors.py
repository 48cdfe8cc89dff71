"""Vector code for the kernels, where Numba finds none by itself: questions about a block of points, answered at once.

It is written for LLVM, which splits the vectors as the processor needs it. There are no fused or reordered operations,
so each number is the one that a loop would compute. A block is BLOCK neighbours of a table, from any index on.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from racer_env.simulator.table_kernels import BLOCK, SAFETY

_INDEX = ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), BLOCK)
_POSITION = (types.float64, types.float64)


@intrinsic
def crossed(_context, points_x, points_y, begin, x, y, dx, dy):
    """Return which segments may be crossed by the line through (x, y) along (dx, dy), as bits.

    Segment i of the block runs from its point i to the next one, so one point more than a block is read. All segments
    that are crossed are among those returned, and few others: those whose ends are on one side, but close to the line,
    as the product of their distances from it may be a rounding error.
    """

    def generate(context, builder, signature, values):
        block = _Block(context, builder, signature, values)
        x, y, dx, dy = (block.repeat(value) for value in values[3:])

        def side(first):
            to_x, to_y = builder.fsub(block.load(0, first), x), builder.fsub(block.load(1, first), y)
            return builder.fsub(builder.fmul(to_x, dy), builder.fmul(to_y, dx))

        product = builder.fmul(side(0), side(1))
        return block.bits("<=", product, block.repeat(ir.DoubleType()(SAFETY)))

    return types.int64(points_x, points_y, types.int64, *_POSITION, *_POSITION), generate


@intrinsic
def reached(_context, points_x, points_y, begin, x, y, reach_squared):
    """Return which segments may be within reach of (x, y), as bits.

    They are those whose straight line is within reach, and whose middle is so near along it that an end may be. Along a
    segment of length e, that is e / 2 + reach, of which e times is at most e^2 + reach^2 / 2.
    """

    def generate(context, builder, signature, values):
        block = _Block(context, builder, signature, values)
        x, y, reach_squared = (block.repeat(value) for value in values[3:])
        half = block.repeat(ir.DoubleType()(0.5))
        ax, ay = block.load(0, 0), block.load(1, 0)
        ex, ey = builder.fsub(block.load(0, 1), ax), builder.fsub(block.load(1, 1), ay)
        dx, dy = builder.fsub(x, ax), builder.fsub(y, ay)
        cross = builder.fsub(builder.fmul(dx, ey), builder.fmul(dy, ex))
        along = builder.fadd(builder.fmul(dx, ex), builder.fmul(dy, ey))
        squared = builder.fadd(builder.fmul(ex, ex), builder.fmul(ey, ey))
        from_middle = builder.fsub(along, builder.fmul(half, squared))
        farthest = builder.fadd(squared, builder.fmul(half, reach_squared))
        is_beside = block.bits("<=", builder.fmul(cross, cross), builder.fmul(reach_squared, squared))
        is_along = block.bits("<=", builder.fmul(from_middle, from_middle), builder.fmul(farthest, farthest))
        return builder.and_(is_beside, is_along)

    return types.int64(points_x, points_y, types.int64, *_POSITION, types.float64), generate


@intrinsic
def nearest_point(_context, points_x, points_y, begin, x, y):
    """Return the squared distance of the point nearest to (x, y), and its place in the block: the first, if equal."""
    result = types.Tuple((types.float64, types.int64))

    def generate(context, builder, signature, values):
        block = _Block(context, builder, signature, values)
        dx, dy = (builder.fsub(block.load(axis, 0), block.repeat(values[3 + axis])) for axis in (0, 1))
        squared = builder.fadd(builder.fmul(dx, dx), builder.fmul(dy, dy))
        least = squared
        half = BLOCK // 2
        while half:  # the lesser of each number and the one half of the rest farther on
            low, high = (block.part(least, first, half) for first in (0, half))
            least = builder.select(builder.fcmp_ordered("<", low, high), low, high)
            half //= 2
        least = builder.extract_element(least, ir.IntType(32)(0))
        place = _trailing_zeros(builder, block.bits("==", squared, block.repeat(least)))
        return context.make_tuple(builder, result, (least, place))

    return result(points_x, points_y, types.int64, *_POSITION), generate


@intrinsic
def lowest(_context, bits):
    """Return the place of the lowest bit that is set; there must be one."""

    def generate(_target, builder, _signature, values):
        return _trailing_zeros(builder, values[0])

    return types.int64(types.int64), generate


def _trailing_zeros(builder, bits):
    kind = ir.FunctionType(_INDEX, [_INDEX, ir.IntType(1)])
    function = builder.module.declare_intrinsic("llvm.cttz", [_INDEX], kind)
    return builder.call(function, [bits, ir.IntType(1)(True)])


class _Block:
    """A block of two arrays, the first arguments of a function, from the index on that is the third one."""

    def __init__(self, context, builder, signature, values):
        self._builder = builder
        self._data = [context.make_array(signature.args[k])(context, builder, values[k]).data for k in (0, 1)]
        self._begin = values[2]

    def load(self, axis, first):
        """Return the numbers of an array from ``first`` indices after the block's begin on."""
        builder = self._builder
        begin = builder.gep(self._data[axis], [builder.add(self._begin, _INDEX(first))])
        return builder.load(builder.bitcast(begin, _VECTOR.as_pointer()), align=8)

    def repeat(self, number):
        """Return a vector that holds a number at all places."""
        vector = self._builder.insert_element(_VECTOR(ir.Undefined), number, ir.IntType(32)(0))
        return self._builder.shuffle_vector(vector, vector, self._places([0] * BLOCK))

    def part(self, vector, first, count):
        """Return some neighbours of a vector's numbers."""
        return self._builder.shuffle_vector(vector, vector, self._places(range(first, first + count)))

    def bits(self, comparison, left, right):
        """Compare two vectors number by number; return the results as bits, the first one lowest."""
        results = self._builder.fcmp_ordered(comparison, left, right)
        return self._builder.zext(self._builder.bitcast(results, ir.IntType(BLOCK)), _INDEX)

    @staticmethod
    def _places(places):
        return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places))
