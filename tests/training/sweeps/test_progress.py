"""How a sweep stands, where there is no terminal."""

import pytest

from training.sweeps.progress import SweepProgress


def test_a_line_is_due_when_a_trial_has_ended_but_not_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """As the sweep says then what it has found."""
    progress = SweepProgress(2, 0)
    progress.show(0.01, "nothing", is_new=False)
    progress.show(1, "one", is_new=True)
    progress.show(2, "both", is_new=True)
    progress.close()
    assert [line.partition(";")[0] for line in capsys.readouterr().out.splitlines()] == ["one"]
