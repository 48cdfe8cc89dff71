"""The frozen physics: ``physics.json`` as numbers that a kernel can read, and its fingerprint."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import DT, RAY_COUNT
from racer_env.errors import ConfigError
from racer_env.fdlibm import exp, sin_cos
from racer_env.json_files import Checker, read_json
from racer_env.project import DEFAULT_PHYSICS_PATH

# Name in the kernels -> group and key in physics.json. Lengths in units, speeds in units/s.
_SOURCES = {
    "mass": ("car", "mass"),
    "wheelbase": ("car", "wheelbase"),
    "width": ("car", "width"),
    "max_engine_force": ("car", "maxEngineForce"),
    "max_brake_force": ("car", "maxBrakeForce"),
    "drag_coefficient": ("car", "dragCoefficient"),
    "rolling_resistance": ("car", "rollingResistance"),
    "max_speed": ("car", "maxSpeed"),
    "max_wheel_angle": ("steering", "maxWheelAngle"),
    "steering_speed_factor": ("steering", "speedFactor"),
    "steer_rate": ("response", "steer"),
    "throttle_rate": ("response", "throttle"),
    "brake_rate": ("response", "brake"),
    "slow_traction": ("traction", "slow"),
    "fast_traction": ("traction", "fast"),
    "low_speed": ("guard", "lowSpeed"),
    "reverse_brake_speed": ("guard", "reverseBrake"),
    "wall_friction": ("wall", "friction"),
    "wall_offset": ("wall", "offset"),
    "contact_padding": ("wall", "contactPadding"),
    "road_grip": ("surface", "roadGrip"),
    "runoff_grip": ("surface", "runoffGrip"),
    "shoulder_grip": ("surface", "shoulderGrip"),
    "road_speed": ("surface", "roadSpeed"),
    "runoff_speed": ("surface", "runoffSpeed"),
    "shoulder_speed": ("surface", "shoulderSpeed"),
    "ray_count": ("rays", "count"),
    "ray_field_of_view": ("rays", "fieldOfView"),
    "ray_max_distance": ("rays", "maxDistance"),
    "max_yaw_rate": ("observation", "maxYawRate"),
    "max_centre_distance": ("observation", "maxCentreDistance"),
}
# Share of the gap to the raw input that a smoothed input closes in one tick: 1 - exp(-rate * DT).
_RESPONSES = ("steer_response", "throttle_response", "brake_response")
# Cosine and sine of each ray's angle from the heading.
_RAYS = ("ray_cos", "ray_sin")

PHYSICS_DTYPE = np.dtype(
    [*((name, np.float64) for name in (*_SOURCES, *_RESPONSES)), *((name, np.float64, RAY_COUNT) for name in _RAYS)],
    align=True,
)


class Physics:
    """The physics constants and their fingerprint.

    Attributes:
        record: The constants, shape (1,) of PHYSICS_DTYPE, as the kernels take them.
        fingerprint: SHA-256 of the file's parsed content, 64 hexadecimal digits. It depends on keys and values
            only, not on layout, key order, or whether 2 is written as 2.0.
    """

    def __init__(self, document: Any, where: str = "physics") -> None:
        values = _check(document, where)
        self.fingerprint = fingerprint_of(document)
        self.record: npt.NDArray[np.void] = np.zeros(1, PHYSICS_DTYPE)
        for name, value in values.items():
            self.record[name] = value
        for name in _RESPONSES:
            rate = values[name.replace("_response", "_rate")]
            self.record[name] = 1.0 - exp(-rate * DT)
        field_of_view = values["ray_field_of_view"]
        step = field_of_view / (RAY_COUNT - 1)
        for ray in range(RAY_COUNT):
            self.record["ray_sin"][0, ray], self.record["ray_cos"][0, ray] = sin_cos(ray * step - field_of_view / 2.0)

    def __getattr__(self, name: str) -> float:
        if name not in _SOURCES and name not in _RESPONSES:
            raise AttributeError(name)
        return float(self.record[name][0])


def _check(document: Any, where: str) -> dict[str, float]:
    check = Checker(ConfigError, where)
    groups: dict[str, list[str]] = {}
    for group, key in _SOURCES.values():
        groups.setdefault(group, []).append(key)
    content = check.mapping(document, "the physics", groups, required=groups)
    for group, keys in groups.items():
        check.mapping(content[group], group, keys, required=keys)
    values = {name: check.number(content[group][key], f"{group}.{key}") for name, (group, key) in _SOURCES.items()}
    for name, value in values.items():
        if value <= 0:
            raise check.fail(f"{'.'.join(_SOURCES[name])} must be above 0, got {value:g}")
    if values["ray_count"] != RAY_COUNT:
        raise check.fail(f"rays.count must be {RAY_COUNT}, got {values['ray_count']:g}")
    return values


def fingerprint_of(document: Any) -> str:
    """Hash parsed JSON content; equal content gives an equal hash in every language.

    Keys are sorted, there is no white space, and numbers are written as ECMAScript does.

    Returns:
        SHA-256 as 64 hexadecimal digits.
    """
    return hashlib.sha256(_canonical(document).encode()).hexdigest()


def _canonical(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_canonical(key)}:{_canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_canonical(item) for item in value) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_text(float(value))
    return json.dumps(value, ensure_ascii=False)


def _number_text(number: float) -> str:
    """Write a finite number as ECMAScript's Number::toString does (ECMA-262, 6.1.6.1.20)."""
    if number == 0:
        return "0"
    mantissa, exponent_text = f"{abs(number)!r}e".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    # The number equals 0.digits times 10 to the power of point.
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent_text or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if 0 < point <= 21:
        text = digits.ljust(point, "0")
        return sign + text[:point] + ("." + text[point:] if len(text) > point else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{point - 1:+d}"


@lru_cache
def load_physics(path: Path = DEFAULT_PHYSICS_PATH) -> Physics:
    """Load a physics file.

    Raises:
        ConfigError: The file is missing or not JSON, or a number is absent, unknown or not finite.
    """
    return Physics(read_json(path, ConfigError, "physics"), str(path))
