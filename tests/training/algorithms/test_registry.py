"""The registry: which algorithms there are, and which one a model file is of."""

import dataclasses

import pytest

from racer_env.errors import ConfigError
from training.algorithms.registry import algorithm_named, algorithm_of, all_algorithms
from training.algorithms.settings import Settings


def test_every_module_has_one() -> None:
    """Found by being there."""
    assert list(all_algorithms()) == ["PPO", "SAC", "TD3"]


def test_another_name_is_refused() -> None:
    """With the names that there are."""
    with pytest.raises(ConfigError, match="no algorithm 'DQN'; there are: PPO, SAC, TD3"):
        algorithm_named("DQN")


@pytest.mark.parametrize("name", ["PPO", "SAC", "TD3"])
def test_a_file_is_told_by_its_name_or_by_its_attributes(name: str) -> None:
    """Files of other trainers, and old ones, do not name their algorithm."""
    algorithm = algorithm_named(name)
    attributes = dict.fromkeys(algorithm.attributes, 1)
    assert algorithm_of({"algorithm": name}) is algorithm
    assert algorithm_of(attributes) is algorithm
    assert algorithm_of({**attributes, "algorithm": "unheard of"}) is algorithm


def test_a_file_of_another_algorithm_is_of_none() -> None:
    """A model of DQN has other attributes."""
    assert algorithm_of({"exploration_rate": 0.1, "tau": 1.0}) is None


@pytest.mark.parametrize("name", ["PPO", "SAC", "TD3"])
def test_all_share_the_settings_of_the_base(name: str) -> None:
    """And each explains every one of its own."""
    algorithm = algorithm_named(name)
    shared = {field.name for field in dataclasses.fields(Settings)}
    own = dataclasses.fields(algorithm.settings)
    assert shared <= {field.name for field in own}
    assert all(len(field.metadata["meaning"].split()) > 2 for field in own)


@pytest.mark.parametrize("name", ["PPO", "SAC", "TD3"])
def test_classes_are_those_of_stable_baselines3(name: str) -> None:
    """By the algorithm's name, with its policy for vectors."""
    algorithm = algorithm_named(name)
    assert algorithm.model_class.__name__ == name
    assert algorithm.policy_class is algorithm.model_class.policy_aliases["MlpPolicy"]
