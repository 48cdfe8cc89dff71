"""One or more bridges as an engine for a vector environment."""

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.client import BridgeClient
from racer_env.config import AiConfig
from racer_env.contract import INFO_DTYPE, OBSERVATION_SIZE, STEP_INFO_KEYS, Placement, checked_actions
from racer_env.engine import NextStart
from racer_env.errors import BridgeError, BridgeLostError, BridgeProtocolError, RacerError
from racer_env.tracks import AnyTrack

FloatArray = npt.NDArray[np.float64]

MAX_CARS = 256  # on a connection, so that a reset with two starts for each car fits into a request, 65,536 bytes

# Refusals are left out: a restarted bridge would refuse the same request again.
WORTH_A_RESTART = (BridgeLostError, BridgeProtocolError)

_log = logging.getLogger(__name__)


class BridgeEngine:
    """N cars on one or more bridges; see ``Engine`` for the attributes.

    A bridge that speaks version 1 of the protocol gets a connection per car, one of version 2 a connection per track.
    The latter begins a finished car's next episode by itself, so an engine that begins late has a connection per car.
    All requests of a step are sent before the first reply is read.

    If bridges that this process started die, they are restarted: the step then truncates every episode with the last
    observation that was seen, and all cars begin anew. Otherwise the error is raised and the engine can no longer be
    used.
    """

    def __init__(
        self,
        bridge: Bridge,
        tracks: Sequence[AnyTrack],
        num_cars: int,
        config: AiConfig,
        next_start: NextStart,
        progress_scale: Sequence[float] | None = None,
        may_restart: bool = True,
        begins_late: bool = False,
    ) -> None:
        """Connect to the bridges.

        Args:
            bridge: The bridges to drive on.
            tracks: Tracks; car i drives on track i modulo their number.
            num_cars: N, the number of cars.
            config: Reward weights and episode limits.
            next_start: Returns where a car's next episode starts.
            progress_scale: A factor per track on the weight of progress.
            may_restart: Whether dead bridges are restarted; an evaluation forbids it, as a cut one is worthless.
            begins_late: As in ``Engine``.
        """
        self.begins_late = begins_late
        self.observations = np.zeros((num_cars, OBSERVATION_SIZE))
        self.rewards = np.zeros(num_cars)
        self.terminated = np.zeros(num_cars, np.bool_)
        self.truncated = np.zeros(num_cars, np.bool_)
        self.infos: npt.NDArray[np.void] = np.zeros(num_cars, INFO_DTYPE)
        self.terminal_observations: dict[int, FloatArray] = {}
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(num_cars)]
        self.next_start = next_start
        self._bridge = bridge
        self._may_restart = may_restart
        self._has_many = bridge.has_extensions and not begins_late  # cars on a connection
        self._tracks = list(tracks)
        scale = [1.0] * len(self._tracks) if progress_scale is None else progress_scale
        self._configs = [_scaled(config, factor) for factor in scale]
        self._connections: list[_Connection] = []
        self._connect()

    def begin(self) -> None:
        """Begin an episode for every car."""
        self.terminal_observations = {}
        self._exchange(lambda: self._begin(self._connections))

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars; only of an engine that begins late."""
        with contextlib.suppress(*WORTH_A_RESTART):  # the next step finds the connection lost, and restarts the bridge
            self._begin([connection for connection in self._connections if set(cars).issuperset(connection.cars)])

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Advance every car by one tick; finished cars begin anew."""
        checked = checked_actions(actions, len(self.rewards))
        before = self.observations.copy()
        self.terminal_observations = {}
        if self._exchange(lambda: self._step(checked)):
            self.rewards[:] = 0.0
            self.terminated[:], self.truncated[:] = False, True
            self.infos[:] = np.zeros((), INFO_DTYPE)  # the rest may stem from an earlier episode
            self.terminal_observations = dict(enumerate(before))

    def close(self) -> None:
        """Disconnect; safe to call twice."""
        for connection in self._connections:
            connection.client.say_goodbye()  # to all bridges, before waiting for any answer
        for connection in self._connections:
            connection.client.close()
        self._connections = []

    def _exchange(self, talk: Callable[[], None]) -> bool:
        """Talk to the bridges; return whether they had to be restarted, so that every car has begun anew."""
        try:
            talk()
            return False
        except WORTH_A_RESTART as error:
            if not self._may_restart:
                raise
            failure: BridgeError = error
        while True:
            self._bridge.restart(failure)
            _log.warning("%s; restarted the bridge, running episodes are truncated", failure)
            try:
                self.close()
                self._connect()
                self._begin(self._connections)
                return True
            except WORTH_A_RESTART as error:
                failure = error

    def _begin(self, connections: "list[_Connection]") -> None:
        for_all(connections, lambda connection: connection.send_begin(self))
        for_all(connections, lambda connection: connection.receive_begin(self))

    def _step(self, actions: FloatArray) -> None:
        for_all(self._connections, lambda connection: connection.send_step(actions))
        for_all(self._connections, lambda connection: connection.receive_step(self))
        if not self.begins_late:
            self._begin([connection for connection in self._connections if connection.must_begin])

    def _connect(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(self.close)
            for track, cars in enumerate(self._cars_by_track()):
                for part in self._parts(cars):
                    client = self._bridge.connect(len(self._connections))
                    kind = _ManyCars if self._has_many else _OneCar
                    self._connections.append(kind(client, part, self._tracks[track].id, self._configs[track]))
            stack.pop_all()  # only connections that are of no use are closed

    def _cars_by_track(self) -> list[range]:
        count = len(self._tracks)
        return [range(track, len(self.rewards), count) for track in range(count)]

    def _parts(self, cars: range) -> list[range]:
        """Split the cars of a track by connection: one share per bridge, if the bridges take many cars."""
        most = min(self._bridge.peer.max_envs, MAX_CARS) if self._has_many else 1
        size = min(most, -(-len(cars) // len(self._bridge.urls)))
        return [cars[first : first + size] for first in range(0, len(cars), size)]


class _Connection(Protocol):
    """A connection and the cars on it."""

    client: BridgeClient
    cars: range
    must_begin: bool

    def send_begin(self, engine: BridgeEngine) -> None: ...

    def receive_begin(self, engine: BridgeEngine) -> None: ...

    def send_step(self, actions: FloatArray) -> None: ...

    def receive_step(self, engine: BridgeEngine) -> None: ...


class _OneCar:
    """A car on a connection of its own, in version 1 of the protocol."""

    def __init__(self, client: BridgeClient, cars: range, track_id: str, config: AiConfig) -> None:
        self.client = client
        self.must_begin = True
        self.cars = cars
        (self._car,) = cars
        self._track_id = track_id
        self._config = config

    def send_begin(self, engine: BridgeEngine) -> None:
        self.client.send_reset(self._track_id, self._config, engine.next_start(self._car))

    def receive_begin(self, engine: BridgeEngine) -> None:
        engine.observations[self._car], engine.reset_infos[self._car] = self.client.receive_reset()
        self.must_begin = False

    def send_step(self, actions: FloatArray) -> None:
        self.client.send_step(actions[self._car])

    def receive_step(self, engine: BridgeEngine) -> None:
        car, result = self._car, self.client.receive_step()
        engine.observations[car] = result.observation
        engine.rewards[car] = result.reward
        engine.terminated[car], engine.truncated[car] = result.terminated, result.truncated
        engine.infos[car] = tuple(result.info[key] for key in STEP_INFO_KEYS)
        self.must_begin = result.terminated or result.truncated
        if self.must_begin:
            engine.terminal_observations[car] = result.observation


class _ManyCars:
    """Cars of one track on one connection, in version 2 of the protocol: the bridge begins their next episodes."""

    must_begin = False

    def __init__(self, client: BridgeClient, cars: range, track_id: str, config: AiConfig) -> None:
        self.client = client
        self.cars = cars
        self._rows = slice(cars.start, cars.stop, cars.step)
        self._track_id = track_id
        self._config = config
        # Next starts that the bridge has not been told yet, by the car's index on the connection.
        self._next_starts: dict[int, Placement | None] = {}

    def send_begin(self, engine: BridgeEngine) -> None:
        starts = [engine.next_start(car) for car in self.cars]
        self._next_starts = {}
        next_starts = [engine.next_start(car) for car in self.cars]
        self.client.send_reset_many(self._track_id, self._config, starts, next_starts)

    def receive_begin(self, engine: BridgeEngine) -> None:
        observations, infos = self.client.receive_reset_many(len(self.cars))
        engine.observations[self._rows] = observations
        for car, info in zip(self.cars, infos, strict=True):
            engine.reset_infos[car] = info

    def send_step(self, actions: FloatArray) -> None:
        self.client.send_step_many(actions[self._rows], self._next_starts)
        self._next_starts = {}

    def receive_step(self, engine: BridgeEngine) -> None:
        results = self.client.receive_step_many(len(self.cars))
        engine.observations[self._rows] = results.observations
        engine.rewards[self._rows] = results.rewards
        engine.terminated[self._rows] = results.terminated
        engine.truncated[self._rows] = results.truncated
        engine.infos[self._rows] = results.infos
        for place, (observation, info) in results.finished.items():
            car = self.cars[place]
            engine.terminal_observations[car] = observation
            engine.reset_infos[car] = info
            self._next_starts[place] = engine.next_start(car)


def for_all(connections: Sequence[_Connection], talk: Callable[[_Connection], None]) -> None:
    """Talk on every connection, then raise the first error; talking goes on after it, so that no reply stays unread."""
    errors = []
    for connection in connections:
        try:
            talk(connection)
        except RacerError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _scaled(config: AiConfig, factor: float) -> AiConfig:
    weights = dataclasses.replace(config.weights, progress=config.weights.progress * factor)
    return dataclasses.replace(config, weights=weights)
