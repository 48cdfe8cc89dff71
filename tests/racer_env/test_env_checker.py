"""The checkers of Gymnasium and of stable-baselines3."""

import warnings
from collections.abc import Iterator

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env as check_gymnasium_env
from stable_baselines3.common.env_checker import check_env as check_sb3_env

import racer_env
from racer_env.env import RacerEnv

pytestmark = pytest.mark.timeout(30)


@pytest.fixture(params=[None, "rgb_array"])
def made(engine_url: str, request: pytest.FixtureRequest) -> Iterator[gymnasium.Env]:
    """The environment as users get it, without the wrappers; with drawing and without."""
    env = gymnasium.make(racer_env.ENV_ID, bridge_url=engine_url, render_mode=request.param).unwrapped
    yield env
    env.close()


def test_gymnasium_checker_is_content(made: gymnasium.Env) -> None:
    """Gymnasium's checker finds nothing to warn of; it tries all render modes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_gymnasium_env(made)


def test_gymnasium_checker_is_content_with_a_plain_environment() -> None:
    """The same holds for an environment made without the registry."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_gymnasium_env(RacerEnv(), skip_render_check=True)


def test_stable_baselines_checker_is_content(made: gymnasium.Env) -> None:
    """Its checker recommends a symmetric action space, which the game does not have, and nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_sb3_env(made, warn=True)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) <= 1
    assert all("symmetric and normalized Box action space" in message for message in messages)
