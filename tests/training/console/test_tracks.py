"""The tracks that a script drives on."""

from pathlib import Path

import pytest

from racer_env.errors import TrackError
from racer_env.project import DEFAULT_TRACKS_DIR
from training.console.tracks import load_tracks_for


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "C:\\secret", "tracks/track-01.json", "a\nb", ""])
def test_a_driver_cannot_name_a_file_to_open(name: str) -> None:
    """Its file may be a stranger's, and says where it was trained."""
    with pytest.raises(TrackError, match="is no track's id; name a track with --track-id"):
        load_tracks_for([name], [], None)


def test_a_user_can(tmp_path: Path) -> None:
    """And what the user names takes the place of what the driver says."""
    path = str(DEFAULT_TRACKS_DIR / "track-02.json")
    assert [track.id for track in load_tracks_for(["../secret"], [path], None)] == ["track-02"]
