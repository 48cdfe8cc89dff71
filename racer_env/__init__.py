"""A top-down racing game as a Gymnasium environment: ``gymnasium.make("TopDownRacer-v0")``."""

import gymnasium

ENV_ID = "TopDownRacer-v0"

gymnasium.register(id=ENV_ID, entry_point="racer_env.env:RacerEnv")
