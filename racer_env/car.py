"""One car of a vector environment, as seen from outside."""

from typing import Any

import numpy as np

from racer_env.spaces import make_action_space, make_observation_space
from racer_env.tracks import AnyTrack

FIXED = ("index", "track", "track_id", "action_space", "observation_space", "render_mode")


class Car:
    """One car of a vector environment: the target of ``get_attr``, ``set_attr`` and ``env_method``.

    Attributes of one's own can be set too; they have no effect here.

    Attributes:
        index: Index of the car in the vector environment.
        track: The track that it drives on.
        track_id: Id of that track.
        action_space, observation_space: The spaces, as in ``RacerEnv``.
        render_mode: Render mode of the vector environment.
        np_random: Generator that its starts are drawn from.
        start: Where its episodes start: ``"standing"``, ``"random"``, a dictionary as in ``RacerEnv``, or None for
            the vector environment's mixture; may be set. Over a bridge with many cars on a connection, the next start
            is chosen one episode ahead, so a new value takes effect in the episode after the next.
    """

    def __init__(self, index: int, track: AnyTrack, render_mode: str | None = None) -> None:
        values = (index, track, track.id, make_action_space(), make_observation_space(), render_mode)
        self.__dict__.update(zip(FIXED, values, strict=True))
        self.np_random = np.random.default_rng()
        self.start: Any = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED:
            raise AttributeError(f"{name} of a car cannot be set once the environment is made; make another one")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a car of a vector environment has no attribute {name!r}; it has {', '.join(FIXED)}, np_random, start, "
            "and what set_attr has set"
        )

    @property
    def unwrapped(self) -> "Car":
        """The car itself, as it has no wrappers."""
        return self

    def has_wrapper_attr(self, name: str) -> bool:
        """Return whether there is an attribute, as a Gymnasium environment does."""
        return hasattr(self, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, as a Gymnasium environment does."""
        return getattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any) -> None:
        """Set an attribute, as a Gymnasium environment does."""
        setattr(self, name, value)
