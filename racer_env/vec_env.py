"""Many cars as one stable-baselines3 vector environment."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from racer_env.bridge.bridge import Bridge, TrackId
from racer_env.car import Car
from racer_env.config import AiConfig
from racer_env.contract import INFO_DTYPE
from racer_env.fleet import Fleet
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import HUMAN, RGB_ARRAY, make_action_space, make_observation_space, step_infos

if TYPE_CHECKING:
    from racer_env.rendering.scene import View


class RacerVecEnv(VecEnv):
    """N cars on one or more tracks, with the observation, action, reward and info of ``RacerEnv``.

    Car i drives on track i modulo the number of tracks. A finished car is reset within the step: its info then
    carries ``terminal_observation`` and ``TimeLimit.truncated``, and the observation is the new episode's.

    With ``action_repeat`` k, a step is k ticks under one action. Reward and components are then sums, ``wallContact``
    says whether there was contact on any tick, and everything else is taken from the last tick; if ``lap`` changed,
    ``lapStepCount`` is the ``stepCount`` of the tick on which it did. An episode that ends on an earlier tick ends the
    step for its car, which coasts through the remaining ticks in its new episode.

    A car draws its starts independently of the others, and car i of a seed draws the same however many there are;
    over a bridge with many cars on a connection, this holds until the environment is reset a second time without a
    seed. A bridge of version 1 of the protocol has a connection per car, and only standing starts.
    """

    def __init__(
        self,
        track_id: TrackId | Iterable[TrackId] = "track-01",
        num_envs: int | None = None,
        config: AiConfig | dict[str, Any] | None = None,
        *,
        bridge_url: str | Sequence[str] | Bridge | None = None,
        config_path: str | Path | None = None,
        render_mode: str | None = None,
        tracks_dir: str | Path | None = None,
        view: "View | dict[str, Any] | None" = None,
        random_start_share: float = 0.0,
        standing_share: float = 0.0,
        equal_road_value: bool = False,
        action_repeat: int = 1,
    ) -> None:
        """Make the environment. Arguments that ``RacerEnv`` has too mean the same and have the same default.

        Args:
            track_id: One or more tracks, as in ``RacerEnv``; car i drives on track i modulo their number.
            num_envs: N, the number of cars, at least one per track; None is one per track.
            config: An ``AiConfig``, or a dict with the content of such a file, instead of ``config_path``.
            bridge_url: URL of the game's bridge, as in ``RacerEnv``; several URLs share the cars.
            config_path: Reward weights and episode limits; None is the project's ``ai-config.json``.
            render_mode: None, ``"rgb_array"`` or ``"human"``, as in ``RacerEnv``; ``"human"`` shows what is rendered.
            tracks_dir: Folder of the user's own track files.
            view: How the cars are drawn, all in one picture; None is ``racer_env.rendering.scene.View()``.
            random_start_share: Share of episodes that start anywhere, on the move; the others start on the line.
            standing_share: Share of random starts that are at rest.
            equal_road_value: Scale progress by each track's length, so that a unit of road earns the same on all.
            action_repeat: Ticks that each action is held, see the class.

        Raises:
            BridgeError: A bridge cannot be reached, or the peer is not a bridge.
            ConfigError: An argument is out of range, or asks for something that a bridge cannot do.
            TrackError: A track does not exist or is wrong.
        """
        self._fleet = Fleet(
            track_id,
            num_envs,
            config,
            bridge_url=bridge_url,
            config_path=config_path,
            render_mode=render_mode,
            tracks_dir=tracks_dir,
            view=view,
            random_start_share=random_start_share,
            standing_share=standing_share,
            equal_road_value=equal_road_value,
            action_repeat=action_repeat,
        )
        self._actions: npt.NDArray[np.floating] | None = None
        self._records = np.zeros(len(self.cars), INFO_DTYPE)
        super().__init__(len(self.cars), make_observation_space(), make_action_space())
        self.metadata: dict[str, Any] = {**self.metadata, "render_fps": self._fleet.fps}

    @property
    def cars(self) -> list[Car]:
        """The cars, in order."""
        return self._fleet.cars

    @property
    def simulator(self) -> Simulator:
        """The embedded simulator, for callers who need float64 states.

        Raises:
            ConfigError: The game is behind a bridge.
        """
        return self._fleet.simulator

    @property
    def step_records(self) -> npt.NDArray[np.void]:
        """Infos of the last step of all cars as one array (N,) with names: ``step_records["rawSpeed"]`` is (N,).

        The next step overwrites it. It has the same values as the step's infos, apart from ``terminal_observation``
        and the like.
        """
        return self._records

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the cars' starts from the next reset on; those of other seeds have nothing in common with them.

        Args:
            seed: Whole number from 0; None draws one.

        Returns:
            Seed of each car.

        Raises:
            ConfigError: The seed is something else.
        """
        self._seeds = list(self._fleet.seeds(seed))
        return self._seeds

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car; seeds and options set beforehand are used once.

        Returns:
            Observations (N, 14) float32.
        """
        observations = self._fleet.begin(self._seeds, self._options)
        self.reset_infos = list(self._fleet.engine.reset_infos)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions (N, 3) of the next step; the engine checks them in ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Advance every car by one step of ``action_repeat`` ticks.

        Returns:
            Observations (N, 14) float32, rewards (N,) float32, dones (N,) bool, infos.
        """
        actions, self._actions = self._actions, None
        assert actions is not None, "step_wait() without step_async()"
        driven = self._fleet.step(actions)
        self._records = driven.infos
        infos = step_infos(driven.infos)
        for car, step_count in driven.crossings.items():
            infos[car]["lapStepCount"] = step_count
        for car, observation in driven.terminal_observations.items():
            infos[car]["terminal_observation"] = observation.astype(np.float32)
            infos[car]["TimeLimit.truncated"] = bool(driven.truncated[car] and not driven.terminated[car])
            self.reset_infos[car] = self._fleet.engine.reset_infos[car]
        return (
            driven.observations.astype(np.float32),
            driven.rewards.astype(np.float32),
            driven.terminated | driven.truncated,
            infos,
        )

    def render(self, mode: str | None = None) -> npt.NDArray[np.uint8] | None:
        """Return a picture (height, width, 3) of all cars, several tracks side by side; or show it in a window.

        Args:
            mode: ``"human"`` or ``"rgb_array"``, instead of the environment's own render mode.

        Raises:
            ClosedError: The environment is closed.
            ConfigError: The environment was made without a render mode.
            RenderError: There is no display to show it on.
        """
        scene = self._fleet.drawn()
        if (mode or self.render_mode) == HUMAN:
            scene.show()
            return None
        return scene.render()

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return the picture of all cars as a list of one."""
        return [self.render(RGB_ARRAY)]

    def close(self) -> None:
        """Close the environment; safe to call twice."""
        self._fleet.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the cars, see ``Car``."""
        return [getattr(self.cars[index], attr_name) for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the cars, see ``Car``; ``track`` and the like cannot be set."""
        for index in self._get_indices(indices):
            setattr(self.cars[index], attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the cars, see ``Car``."""
        return [
            getattr(self.cars[index], method_name)(*method_args, **method_kwargs)
            for index in self._get_indices(indices)
        ]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return False for every car, as the cars have no wrappers."""
        return [False for _ in self._get_indices(indices)]
