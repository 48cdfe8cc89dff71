"""The scripted driver as a network, so that it drives where networks are run: number by number as in Python."""

import json

import onnx

from racer_env.contract import OBSERVED_SPEED, RAY_AHEAD
from training.drivers.card import CARD_KEY
from training.drivers.scripted import RAY_RANGE, TOP_SPEED
from training.exports.files import IR_VERSION, OPSET

# The operations of training.drivers.scripted in their order, so that single precision rounds alike.
_GRAPH = f"""
<ir_version: {IR_VERSION}, opset_import: ["": {OPSET}]>
scripted (float[batch, 14] obs) => (float[batch, 3] actions)
<int64[1] at_left = {{{RAY_AHEAD + 1}}}, int64[1] at_far_left = {{{RAY_AHEAD + 2}}},
 int64[1] at_right = {{{RAY_AHEAD - 1}}}, int64[1] at_far_right = {{{RAY_AHEAD - 2}}},
 int64[1] at_ahead = {{{RAY_AHEAD}}}, int64[1] at_speed = {{{OBSERVED_SPEED}}},
 float half = {{0.5}}, float range = {{{RAY_RANGE}}}, float top = {{{TOP_SPEED}}}, float slowest = {{20.0}},
 float factor = {{0.75}}, float gain = {{4.0}}, float one = {{1.0}}, float minus_one = {{-1.0}}, float slack = {{10.0}}>
{{
    near_left = Gather<axis=1>(obs, at_left)
    far_left = Gather<axis=1>(obs, at_far_left)
    near_right = Gather<axis=1>(obs, at_right)
    far_right = Gather<axis=1>(obs, at_far_right)
    half_left = Mul(far_left, half)
    half_right = Mul(far_right, half)
    left = Add(near_left, half_left)
    right = Add(near_right, half_right)
    room = Sub(right, left)
    turn = Mul(room, gain)
    steer = Clip(turn, minus_one, one)
    seen = Gather<axis=1>(obs, at_ahead)
    ahead = Mul(seen, range)
    moved = Gather<axis=1>(obs, at_speed)
    speed = Mul(moved, top)
    more = Mul(ahead, factor)
    target = Add(more, slowest)
    limit = Add(target, slack)
    is_slow = Less(speed, target)
    is_fast = Greater(speed, limit)
    throttle = Cast<to=1>(is_slow)
    brake = Cast<to=1>(is_fast)
    actions = Concat<axis=1>(steer, throttle, brake)
}}
"""


def scripted_network() -> bytes:
    """Return an ONNX file that maps raw observations (N, 14) to the scripted driver's actions (N, 3)."""
    model = onnx.parser.parse_model(_GRAPH)
    card = {"normalises": True, "action_repeat": 1, "track_ids": [], "physics_fingerprint": None}
    onnx.helper.set_model_props(model, {CARD_KEY: json.dumps(card)})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content
