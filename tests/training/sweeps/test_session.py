"""A sweep from its options to its exit code; what trains is tested in ``tests/training/test_sweep.py``."""

import pytest

from training.sweeps.bases import make_bases
from training.sweeps.objective import OBJECTIVES
from training.sweeps.options import parse
from training.sweeps.search_space import SPACES_FOLDER
from training.sweeps.session import note_other_tracks, note_rare_evaluations, note_settings_outside


@pytest.mark.parametrize(
    ("arguments", "is_noted"),
    [
        ("--search --timesteps 60000", True),
        ("--search --timesteps 60000 --eval-freq 10000", False),
        ("--search --timesteps 60000 --pruner none", False),
        ("--timesteps 60000", False),
    ],
)
def test_evaluations_that_are_too_rare_to_end_trials_early_are_told(
    arguments: str, is_noted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the option that helps."""
    options = parse(arguments.split())
    note_rare_evaluations(options, {base.label: base for base in make_bases(options, OBJECTIVES["pace"])})
    assert ("--eval-freq 6553 lets them end early" in capsys.readouterr().err) == is_noted


@pytest.mark.parametrize(("preset", "is_noted"), [("fast", False), ("quick", True)])
def test_settings_that_a_search_cannot_begin_with_are_told(
    preset: str, is_noted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A preset without penalties is in no range by orders of magnitude."""
    options = parse(["--search", "--preset", preset])
    note_settings_outside(options, {base.label: base for base in make_bases(options, OBJECTIVES["pace"])})
    assert ("does not hold its settings as they are" in capsys.readouterr().err) == is_noted


@pytest.mark.parametrize(
    ("arguments", "is_noted"),
    [
        ("--preset quick general", True),
        ("--preset quick smooth", False),
        ("--preset quick general --eval-track-id track-01", False),
    ],
)
def test_presets_that_are_judged_on_different_tracks_are_told(
    arguments: str, is_noted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The median of one says nothing beside that of the other."""
    options = parse(arguments.split())
    note_other_tracks({base.label: base for base in make_bases(options, OBJECTIVES["pace"])})
    told = "note: PPO quick, PPO general are judged on different tracks, so their figures do not compare; "
    assert (told in capsys.readouterr().err) == is_noted


def test_the_space_around_the_general_preset_holds_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A search of it begins with the preset as it is."""
    options = parse(["--search", str(SPACES_FOLDER / "general.json"), "--preset", "general"])
    note_settings_outside(options, {base.label: base for base in make_bases(options, OBJECTIVES["pace"])})
    assert capsys.readouterr().err == ""
