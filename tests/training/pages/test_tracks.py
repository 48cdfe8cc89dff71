"""The tracks of a page, and their files."""

from pathlib import Path

from racer_env.tracks import Track, load_track
from training.pages.options import parse_options
from training.pages.tracks import page_tracks, write_tracks


def test_all_shipped_tracks_or_those_that_are_named() -> None:
    """Generated ones too."""
    assert [track.id for track in page_tracks(parse_options([]))] == ["track-01", "track-02", "track-03"]
    named = parse_options(["--track-id", "track-02", "procedural:2", "--track-seed", "4"])
    assert [track.id for track in page_tracks(named)] == ["track-02", "procedural-4-0", "procedural-4-1"]


def test_a_track_s_file_is_the_track(tmp_path: Path, tracks: list[Track]) -> None:
    """The entry says where it is, and what it is; one without par times has none."""
    pars = {"track-01": {"gold": 3, "silver": 4, "bronze": 5}}
    first, second, _ = write_tracks(tmp_path, tracks, pars)
    assert first == {
        "id": "track-01",
        "name": tracks[0].name,
        "file": "tracks/track-01.json",
        "fingerprint": tracks[0].fingerprint,
        "length": round(tracks[0].length, 3),
        "parTicks": pars["track-01"],
    }
    assert load_track(tmp_path / first["file"]).to_json() == tracks[0].to_json()
    assert second["parTicks"] is None
