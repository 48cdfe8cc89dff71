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


def test_a_folder_goes_before_generated_tracks_of_the_driver(tmp_path: Path) -> None:
    """They need no folder, so whoever names one means the tracks in it; tracks that may be in it go on as before."""
    (tmp_path / "own.json").write_text((DEFAULT_TRACKS_DIR / "track-02.json").read_text().replace("track-02", "own"))
    (tmp_path / "track-01.json").write_text((DEFAULT_TRACKS_DIR / "track-01.json").read_text())
    for own, expected in ((["procedural-0-1"], ["own", "track-01"]), (["track-01"], ["track-01"])):
        assert [track.id for track in load_tracks_for(own, [], tmp_path)] == expected
