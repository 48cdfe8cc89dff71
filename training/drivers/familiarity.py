"""What a driver says about the tracks that it was trained on, against those that it is put on."""

from collections.abc import Sequence

from training.console.messages import in_short
from training.drivers.driver import Driver
from training.drivers.loading import SCRIPTED


def doubt_about(driver: Driver, track_ids: Sequence[str], who: str, fails: bool = False) -> str | None:
    """Return in words why a driver may fail on tracks; None if it was trained there, or drives by rule.

    Args:
        driver: The driver.
        track_ids: Ids of the tracks.
        who: What to call the driver.
        fails: Whether it has failed there.
    """
    strange = [track_id for track_id in track_ids if track_id not in driver.track_ids]
    if not strange or driver.name == SCRIPTED:
        return None
    if not driver.track_ids:
        failed = f"fails on {in_short(strange)}, and " if fails else ""
        return f"{who} {failed}does not say on which tracks it was trained"
    return f"{who} was not trained on {in_short(strange)}{', where it fails' if fails else ''}"
