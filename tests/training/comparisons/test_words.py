"""A comparison in words."""

from pathlib import Path

import pytest

from tests.training.comparisons.logs import comparison_of, evaluation, write_run, write_setting
from training.comparisons.measures import LAP_TIME, PACE, STEPS, Measure
from training.comparisons.words import MANY, OTHER_COURSES, pair_in_words, sentences

pytestmark = pytest.mark.timeout(60)

ALIKE = "a and b are alike in lap time in s: each is better in 1 of 3 seeds, and as good in 1; the intervals overlap"
BETTER = "a is better by pace less costs than b in 3 of 3 seeds; the intervals do not overlap"
ONCE = "b is faster than a in 1 of 3 seeds, and as good in 2; the intervals overlap"


@pytest.mark.parametrize(
    ("paces", "others", "measure", "sentence"),
    [
        ([101, 102, 103, 104, 90], [100] * 5, LAP_TIME, "a is faster than b in 4 of 5 seeds; the intervals overlap"),
        ([100, 101, 102], [50, 51, 52], PACE, BETTER),
        ([9, 11, 9], [9, 12, 9], LAP_TIME, ONCE),
        ([9, 12, 9], [12, 9, 9], LAP_TIME, ALIKE),
        ([10, 11], [110, 111], LAP_TIME, "b is faster than a in 2 of 2 seeds"),
        ([9, None, None], [10, None, None], LAP_TIME, ONCE),
        ([100], [90], LAP_TIME, "a is faster than b in 1 of 1 seed"),
        ([100, 100], [90, 80], STEPS, "a and b are equal in steps to competence in every seed"),
    ],
)
def test_a_pair_in_words(
    tmp_path: Path, paces: list[float | None], others: list[float | None], measure: Measure, sentence: str
) -> None:
    """Which is better, in how many of the seeds, and whether the intervals overlap."""
    write_setting(tmp_path, "a", paces)
    write_setting(tmp_path, "b", others, algorithm="SAC")
    one, other = sorted(comparison_of(tmp_path).settings, key=lambda each: each.label)
    assert pair_in_words(one, other, measure).replace("PPO", "a").replace("SAC", "b") == sentence


@pytest.mark.parametrize(
    ("score", "off_road", "clause"),
    [
        (90.0, 0.31, "; but off the road 31.0% against 0.0%"),
        (90.0, 0.0, ""),
        (110.0, 0.31, ""),
    ],
)
def test_the_faster_one_of_the_lower_rank_says_at_what_cost(
    tmp_path: Path, score: float, off_road: float, clause: str
) -> None:
    """It is worse by pace less costs, and in what is seen; nothing is said where that is not so."""
    write_setting(tmp_path, "a", [100.0])
    line = evaluation(1000, 125.0, score=[3.0, score, 1.0], off_track_share=off_road)
    write_run(tmp_path, "b", 0, [line], algorithm="SAC")
    assert f"SAC is faster than PPO in 1 of 1 seed{clause}" in sentences(comparison_of(tmp_path))


def test_settings_without_a_common_seed_are_not_paired(tmp_path: Path) -> None:
    """Their medians and intervals are told."""
    for seed in (0, 1, 2):
        write_run(tmp_path, f"a{seed}", seed, [evaluation(1000, 100.0)])
        write_run(tmp_path, f"b{seed}", seed + 5, [evaluation(1000, 50.0)], algorithm="SAC")
    assert (
        "PPO and SAC share no seed; lap time in s, medians: 10.00 against 20.00; the intervals do not overlap"
        in sentences(comparison_of(tmp_path))
    )


@pytest.mark.parametrize(
    ("arguments", "is_other"),
    [
        ({"eval_track_id": ["track-02"]}, True),
        ({"eval_laps": 5}, True),
        ({"eval_random_starts": 4}, True),
        ({"eval_track_id": ["track-01"]}, False),
        ({"track_seed": 3}, False),
    ],
)
def test_no_sentence_compares_what_was_evaluated_on_another_course(
    tmp_path: Path, arguments: dict[str, object], is_other: bool
) -> None:
    """It is said why; the tracks of training are those of the evaluations unless others are named."""
    usual = {"eval_laps": 3, "eval_random_starts": 0, "eval_track_id": [], "track_seed": 0}
    write_setting(tmp_path, "a", [100.0] * 5, arguments=usual)
    write_setting(tmp_path, "b", [90.0] * 5, arguments={**usual, **arguments})
    found = sentences(comparison_of(tmp_path))
    assert (found == [OTHER_COURSES]) == is_other
    assert any("is better by pace less costs than" in sentence for sentence in found) != is_other


def test_generated_tracks_to_evaluate_on_are_those_of_their_seed(tmp_path: Path) -> None:
    """A set of the same name is another one with another seed."""
    for seed in (0, 1):
        arguments = {"eval_track_id": ["procedural:8"], "track_seed": seed}
        write_setting(tmp_path, f"s{seed}", [100.0], arguments=arguments)
    assert OTHER_COURSES in sentences(comparison_of(tmp_path))


def test_the_best_one_is_compared_with_those_next_to_it_on_its_course(tmp_path: Path) -> None:
    """Others between them do not take their place."""
    for index in range(4):
        elsewhere = {"arguments": {"eval_track_id": ["track-02"]}, "hyperparameters": {"gamma": index}}
        write_setting(tmp_path, f"r{index}", [90.0 + index], algorithm="SAC", **elsewhere)
    write_setting(tmp_path, "best", [200.0], arguments={"eval_track_id": []})
    write_setting(tmp_path, "last", [10.0], arguments={"eval_track_id": []}, algorithm="TD3")
    assert "PPO is better by pace less costs than TD3 in 1 of 1 seed" in sentences(comparison_of(tmp_path))


@pytest.mark.parametrize(
    ("count", "words"), [(1, ["fewer than 3"]), (2, ["fewer than 3"]), (3, ["an interval from"]), (5, [])]
)
def test_few_seeds_are_said_to_be_few(tmp_path: Path, count: int, words: list[str]) -> None:
    """One or two have no interval, and that of three says little."""
    write_setting(tmp_path, "a", [100.0] * count)
    found = sentences(comparison_of(tmp_path))
    assert [" ".join(sentence.split()[:3]) for sentence in found] == words


@pytest.mark.parametrize("steps", [1000, 2000])
def test_longer_training_is_told(tmp_path: Path, steps: int) -> None:
    """As it may be all that makes a setting better."""
    write_setting(tmp_path, "a", [100.0])
    write_setting(tmp_path, "b", [90.0], timesteps=steps, algorithm="SAC")
    span = "some for 1,000 steps, and some for 2,000"
    sentence = f"not all settings were trained for as long, {span}: a longer training may be why one is better"
    assert (sentence in sentences(comparison_of(tmp_path))) == (steps != 1000)


def test_the_best_of_many_is_said_to_be_lucky_too(tmp_path: Path) -> None:
    """A winner among many owes some of its rank to its seeds."""
    for index in range(MANY + 1):
        write_setting(tmp_path, f"r{index}", [100.0 + index], hyperparameters={"gamma": index / 100})
    assert f"the best of {MANY + 1} settings is lucky too: train it again, with new seeds" in sentences(
        comparison_of(tmp_path)
    )
