"""PPO, proximal policy optimisation.

Source: Schulman et al. (2017), "Proximal policy optimization algorithms".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from racer_env.contract import ACTION_SIZE
from training.algorithms.algorithm import Algorithm, falling, line_in
from training.algorithms.settings import Settings, default_of, setting

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

MAX_LOG_STD = 5.0  # of the noise; as the last one, it is no limit


@dataclass(frozen=True)
class PpoSettings(Settings):
    """Hyper-parameters, tuned on the shipped tracks and on generated ones."""

    learning_rate: float = setting(1e-3, 0, 1, "step size of the optimiser; falls linearly over the run")
    final_rate_share: float = setting(0.0, 0, 1, "share of the step size that is left at the end of the run")
    standing_share: float = default_of(Settings, "standing_share", 0.3)
    steer_change_penalty: float = default_of(Settings, "steer_change_penalty", 12.0)
    off_track_cost: float = default_of(Settings, "off_track_cost", 2.0)
    minibatches: int = setting(8, 1, 1024, "minibatches that a rollout is cut into")
    epochs: int = setting(5, 1, 100, "passes over a rollout")
    steps_per_car: int = setting(128, 1, 10_000, "environment steps of each car in a rollout, at least")
    least_rollout_steps: int = setting(
        4096, 1, 1_000_000_000, "environment steps of all cars in a rollout, at least: few cars take more steps each"
    )
    gae_lambda: float = setting(0.97, 0, 1, "bias against variance of the advantage estimate")
    clip_range: float = setting(0.2, 1e-6, 10, "how far an update may change the policy")
    entropy_coefficient: float = setting(0.0, 0, 10, "weight of the entropy in the loss")
    value_coefficient: float = setting(0.5, 0, 100, "weight of the value function in the loss")
    max_gradient_norm: float = setting(0.5, 1e-6, 1e6, "gradients are clipped to this norm")
    log_std: tuple[float, float, float] = setting(
        (-1.0, -0.5, -0.5), -20, 5, "initial logarithm of the exploration noise of steer, throttle and brake"
    )
    final_log_std: float = setting(-2.5, -20, 5, "the noise is kept below a line that falls to this; 5 is no limit")
    bias: tuple[float, float, float] = setting(
        (0.0, 1.2, -1.2), -100, 100, "initial output of the policy; presses the throttle, so that a fresh driver moves"
    )
    final_steer_change_penalty: float = setting(
        0.0, 0, 1000, "weight that steer_change_penalty grows to over the run; 0 leaves it as it is"
    )

    final_off_track_cost: float = setting(
        10.0, 0, 1000, "what off_track_cost grows to over the run; 0 leaves it as it is"
    )

    @property
    def exploration_schedule(self) -> tuple[tuple[float, ...], float] | None:
        """Initial and final logarithms of the noise, see the base class."""
        return (self.log_std, self.final_log_std) if self.final_log_std < min(self.log_std) else None

    @property
    def penalty_schedules(self) -> dict[str, tuple[float, float]]:
        """Initial and final weights of the penalties, see the base class."""
        ends = {
            "steer_change_penalty": (self.steer_change_penalty, self.final_steer_change_penalty),
            "off_track_cost": (self.off_track_cost, self.final_off_track_cost),
        }
        return {name: (first, last) for name, (first, last) in ends.items() if first and last}


class Ppo(Algorithm):
    """PPO: on-policy, with one rollout of many cars per update."""

    name = "PPO"
    fast = ("training.algorithms.fast_policy", "FastPPO")
    settings = PpoSettings
    timesteps = 1_000_000
    checkpoint_freq = 50_000
    eval_freq = 100_000
    cars = 64
    cars_on_several_tracks = 96
    attributes = frozenset({"n_epochs", "clip_range"})
    to_drive: ClassVar[dict[str, Any]] = {"learning_rate": 0.0, "clip_range": 0.2}
    output = "clipped"
    head = ("mlp_extractor.policy_net", "action_net")
    in_weights = ("log_std", "bias")
    set_anew = (*Algorithm.set_anew, "log_std")
    stored: ClassVar[dict[str, str]] = {
        **Algorithm.stored,
        "epochs": "n_epochs",
        "steps_per_car": "n_steps",
        "gae_lambda": "gae_lambda",
        "entropy_coefficient": "ent_coef",
        "clip_range": "clip_range",
        "value_coefficient": "vf_coef",
        "max_gradient_norm": "max_grad_norm",
    }

    def arguments(self, settings: PpoSettings, cars: int, total_steps: int) -> dict[str, Any]:
        """Return PPO's arguments."""
        rollout = self.rollout_steps(settings, cars)
        return {
            "learning_rate": falling(settings.learning_rate, rollout, total_steps, settings.final_rate_share),
            "n_steps": rollout // cars,
            "batch_size": rollout // settings.minibatches,
            "n_epochs": settings.epochs,
            "gamma": settings.gamma,
            "gae_lambda": settings.gae_lambda,
            "clip_range": settings.clip_range,
            "ent_coef": settings.entropy_coefficient,
            "vf_coef": settings.value_coefficient,
            "max_grad_norm": settings.max_gradient_norm,
        }

    def rollout_steps(self, settings: PpoSettings, cars: int) -> int:
        """Return the steps of a rollout: few cars take more steps each, to keep it long; minibatches are equal."""
        least = max(
            settings.steps_per_car, settings.least_rollout_steps // cars, math.ceil(2 * settings.minibatches / cars)
        )
        unit = settings.minibatches // math.gcd(settings.minibatches, cars)
        return math.ceil(least / unit) * unit * cars

    def settings_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return PPO's hyper-parameters: minibatches by their number, a policy as stable-baselines3 begins it."""
        own = super().settings_in(attributes)
        network, line = attributes.get("policy_kwargs"), line_in(attributes.get("learning_rate"))
        noise = network.get("log_std_init", 0.0) if isinstance(network, dict) else None
        if type(noise) in (int, float):
            own |= {"log_std": (noise,) * ACTION_SIZE, "bias": (0.0,) * ACTION_SIZE, "final_log_std": MAX_LOG_STD}
        if line is not None:
            own["learning_rate"] = line[0]
            own["final_rate_share"] = line[1] / line[0] if 0 <= line[1] <= line[0] != 0 else 0.0
        elif "learning_rate" in own:
            own["final_rate_share"] = 1.0
        batch, cars = attributes.get("batch_size"), attributes.get("n_envs")
        if "steps_per_car" in own and type(batch) is type(cars) is int and batch > 0:
            rollout = own["steps_per_car"] * cars
            own |= {"minibatches": max(1, rollout // batch), "least_rollout_steps": rollout}
        return own

    def kept(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the clipping of the value function, if the model has one."""
        clip = attributes.get("clip_range_vf")
        return {"clip_range_vf": clip} if isinstance(clip, float) and 0 < clip < math.inf else {}

    def make_model(
        self, env: "VecNormalize", settings: Settings, arguments: dict[str, Any], seed: int, device: str
    ) -> "BaseAlgorithm":
        """Make a fresh model with the exploration noise and initial outputs in the settings."""
        assert isinstance(settings, PpoSettings)
        model = super().make_model(env, settings, arguments, seed, device)
        policy: Any = model.policy
        initial = [(policy.action_net.bias, settings.bias)]
        if not policy.use_sde:  # noise of the state is a layer of weights, of its own size
            initial.append((policy.log_std, settings.log_std))
        for parameter, values in initial:
            parameter.data.copy_(parameter.data.new_tensor(values))
        return model


ALGORITHM = Ppo()
