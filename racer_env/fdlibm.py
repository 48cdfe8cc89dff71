"""Sine, cosine, arc tangent, arc cosine and exponential, bit for bit as the game's engine computes them.

The game runs in JavaScript. V8, the engine of Node.js, computes these functions with fdlibm. Their last bit differs
from that of the C library's and of NumPy's, which also depend on the machine. At a knife edge, or after some contacts
with walls, a car shows it. So whatever the state of a car follows from is computed here.

All is plain double precision in a fixed order, so results are the same on every machine. The functions run as they are;
compiled code calls them by way of ``racer_env.simulator.compiled_fdlibm``. Arguments are finite.

Source: fdlibm 5.3, https://www.netlib.org/fdlibm: its reductions of the argument, its polynomials and their order of
operations. Its notice:

    Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.

    Developed at SunSoft, a Sun Microsystems, Inc. business.
    Permission to use, copy, modify, and distribute this
    software is freely granted, provided that this notice
    is preserved.
"""

import math
import struct

# pi/2 in parts: each of the first three has 33 bits, so that its products with whole numbers up to 2^20 are exact; the
# rests are what remains after one, two and three parts.
_PI_2_A, _REST_A = 1.57079632673412561417e00, 6.07710050650619224932e-11
_PI_2_B, _REST_B = 6.07710050630396597660e-11, 2.02226624879595063154e-21
_PI_2_C, _REST_C = 2.02226624871116645580e-21, 8.47842766036889956997e-32
_PI, _PI_LOW = 3.14159265358979311600e00, 1.2246467991473531772e-16  # and what pi is more than that
_PI_2, _PI_2_LOW = 1.57079632679489655800e00, 6.12323399573676603587e-17
_2_PI = 6.36619772367581382433e-01  # 2/pi
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_1_LN2 = 1.44269504088896338700e00  # 1/ln 2

# Where the methods change. fdlibm compares the upper halves of the numbers, hence the crooked limits.
_QUARTER = float.fromhex("0x1.921fcp-1")  # pi/4, about; below it nothing is reduced
_THREE_QUARTERS = float.fromhex("0x1.2d97cp+1")  # 3 pi/4, about
_LARGE = float.fromhex("0x1.921fcp+19")  # 2^19 pi/2, about
_MANY = 32  # quarter turns, from which on any argument may be near a multiple of pi/2
_TINY = 2.0**-27  # below it an angle is its sine
_COS_PLAIN = float.fromhex("0x1.33333p-2")  # 0.3, about
_COS_STEEP = float.fromhex("0x1.90001p-1")  # 0.78125, about
_STEEP = 61 << 20  # from upper half to upper half: one number is about 2^61 times the other
_LN2_HALF, _LN2_MORE = float.fromhex("0x1.62e43p-2"), float.fromhex("0x1.0a2b2p+0")  # 0.5 and 1.5 ln 2, about


def high_word(x: float) -> int:
    """Return the upper 32 bits of a double: sign, exponent and 20 bits of the mantissa."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0] >> 32)


def from_high_word(word: int) -> float:
    """Return the double with these upper 32 bits, whose lower ones are 0."""
    return float(struct.unpack("<d", struct.pack("<q", word << 32))[0])


def sin_cos(angle: float) -> tuple[float, float]:
    """Return sine and cosine of an angle of up to 2^20 pi/2, about 1.6 million radians.

    From 2^19 pi/2 on, fdlibm reduces the angle in another way. Then a last bit may differ from it, which no comparison
    has shown so far.
    """
    turns, x, rest = _reduce(angle)
    sine, cosine = _sin_part(x, rest, turns != 0), _cos_part(x, rest)
    if turns & 1:
        sine, cosine = cosine, sine
    return -sine if turns & 2 else sine, -cosine if (turns + 1) & 2 else cosine


def atan2(y: float, x: float) -> float:
    """Return the angle within [-pi, pi] of the direction (x, y)."""
    if y == 0.0:
        angle = 0.0
    elif x == 0.0 or high_word(abs(y)) - high_word(abs(x)) >= _STEEP:
        return math.copysign(_PI_2, y)
    else:
        angle = _atan(abs(y / x))
    if math.copysign(1.0, x) < 0.0:
        angle = _PI - (angle - _PI_LOW)
    return math.copysign(angle, y)


def acos(x: float) -> float:
    """Return the angle within [0, pi] whose cosine is x, within [-1, 1]."""
    if x >= 1.0:
        return 0.0
    if x <= -1.0:
        return _PI
    if abs(x) < 0.5:
        return _PI_2 - (x - (_PI_2_LOW - x * _acos_ratio(x * x)))
    if x < 0.0:
        z = (1.0 + x) * 0.5
        root = math.sqrt(z)
        return _PI - 2.0 * (root + (_acos_ratio(z) * root - _PI_2_LOW))
    z = (1.0 - x) * 0.5
    root = math.sqrt(z)
    high = from_high_word(high_word(root))
    low = (z - high * high) / (root + high)
    return 2.0 * (high + (_acos_ratio(z) * root + low))


def exp(x: float) -> float:
    """Return e to the power of x, which is at most 0."""
    if x < -7.45133219101941108420e02:
        return 0.0
    if x > -(2.0**-28):
        return 1.0 + x
    # e^x = 2^k e^(high - low)
    k = 0
    if x <= -_LN2_HALF:
        k = -1 if x > -_LN2_MORE else int(_1_LN2 * x - 0.5)
    high, low = x - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    t = r * r
    c = 1.65339022054652515390e-06 - t * 4.13813679705723846039e-08
    c = 6.61375632143793436117e-05 - t * c
    c = 2.77777777770155933842e-03 - t * c
    c = r - t * (1.66666666666666019037e-01 - t * c)
    if k == 0:
        return 1.0 - ((r * c) / (c - 2.0) - r)
    return math.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), k)


def _reduce(angle: float) -> tuple[int, float, float]:
    """Return the whole number of quarter turns nearest to an angle, and what is left, in two parts."""
    size = abs(angle)
    if size < _QUARTER:
        return 0, angle, 0.0
    turns = int(size * _2_PI + 0.5)
    left, less = size - turns * _PI_2_A, turns * _REST_A
    if turns >= _MANY or high_word(size) == high_word(turns * _PI_2):
        left, less = _reduce_further(size, turns, left, less)
    x = left - less
    rest = (left - x) - less
    return (-turns, -x, -rest) if angle < 0.0 else (turns, x, rest)


def _reduce_further(size: float, turns: int, left: float, less: float) -> tuple[float, float]:
    """Subtract more parts of pi/2, where what is left may have lost too many digits."""
    exponent = high_word(size) >> 20
    if size < _THREE_QUARTERS:
        return left - _PI_2_B, _REST_B
    if exponent - _exponent(left - less) > 16 or size >= _LARGE:
        before, part = left, turns * _PI_2_B
        left = before - part
        less = turns * _REST_B - ((before - left) - part)
        if exponent - _exponent(left - less) > 49:
            before, part = left, turns * _PI_2_C
            left = before - part
            less = turns * _REST_C - ((before - left) - part)
    return left, less


def _exponent(x: float) -> int:
    return (high_word(x) >> 20) & 0x7FF


def _sin_part(x: float, rest: float, is_reduced: bool) -> float:
    """Return the sine of x + rest, |x| <= pi/4."""
    if abs(x) < _TINY:
        return x
    z = x * x
    v = z * x
    r = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    r = 2.75573137070700676789e-06 + z * r
    r = -1.98412698298579493134e-04 + z * r
    r = 8.33333333332248946124e-03 + z * r
    plain = x + v * (-1.66666666666666324348e-01 + z * r)
    reduced = x - ((z * (0.5 * rest - v * r) - rest) - v * -1.66666666666666324348e-01)
    return reduced if is_reduced else plain


def _cos_part(x: float, rest: float) -> float:
    """Return the cosine of x + rest, |x| <= pi/4."""
    z = x * x
    r = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    r = -2.75573143513906633035e-07 + z * r
    r = 2.48015872894767294178e-05 + z * r
    r = -1.38888888888741095749e-03 + z * r
    r = z * (4.16666666666666019037e-02 + z * r)
    size = abs(x)
    near = from_high_word(high_word(size) - 0x200000)  # near z / 2, and subtracted without an error
    near = 0.28125 if size >= _COS_STEEP else near
    near = 0.0 if size < _COS_PLAIN else near
    return (1.0 - near) - ((0.5 * z - near) - (z * r - x * rest))


def _atan(size: float) -> float:
    """Return the angle whose tangent is at least 0; it may be infinite.

    It is a known angle, in two parts, plus a small one. The quotients for all known ones are prepared, because a
    processor's wrong guess at a branch costs more.
    """
    over, under, known, low = size, 1.0, 0.0, 0.0
    half_over, half_under = 2.0 * size - 1.0, 2.0 + size
    one_over, one_under = size - 1.0, size + 1.0
    more_over, more_under = size - 1.5, 1.0 + 1.5 * size
    if size >= 0.4375:
        over, under, known, low = half_over, half_under, 4.63647609000806093515e-01, 2.26987774529616870924e-17
    if size >= 0.6875:
        over, under, known, low = one_over, one_under, 7.85398163397448278999e-01, 3.06161699786838301793e-17
    if size >= 1.1875:
        over, under, known, low = more_over, more_under, 9.82793723247329054082e-01, 1.39033110312309984516e-17
    if size >= 2.4375:
        over, under, known, low = -1.0, size, _PI_2, _PI_2_LOW
    small = over / under
    z = small * small
    w = z * z
    even = 4.97687799461593236017e-02 + w * 1.62858201153657823623e-02
    even = 6.66107313738753120669e-02 + w * even
    even = 9.09088713343650656196e-02 + w * even
    even = 1.42857142725034663711e-01 + w * even
    even = z * (3.33333333333329318027e-01 + w * even)
    odd = -5.83357013379057348645e-02 + w * -3.65315727442169155270e-02
    odd = -7.69187620504482999495e-02 + w * odd
    odd = -1.11111104054623557880e-01 + w * odd
    odd = w * (-1.99999999998764832476e-01 + w * odd)
    return known - ((small * (even + odd) - low) - small)


def _acos_ratio(z: float) -> float:
    p = 7.91534994289814532176e-04 + z * 3.47933107596021167570e-05
    p = -4.00555345006794114027e-02 + z * p
    p = 2.01212532134862925881e-01 + z * p
    p = -3.25565818622400915405e-01 + z * p
    p = z * (1.66666666666666657415e-01 + z * p)
    q = -6.88283971605453293030e-01 + z * 7.70381505559019352791e-02
    q = 2.02094576023350569471e00 + z * q
    q = -2.40339491173441421878e00 + z * q
    return p / (1.0 + z * q)
