"""Tables of a driver's results, for people."""

from collections.abc import Sequence
from itertools import chain

from racer_env.printable import MAX_NAME, printable
from racer_env.tracks.names import kind_of
from training.evaluation.episode import LINE, MOVING, STANDING, Episode
from training.evaluation.summary import MAX_TRACKS_APART, summarise

MAX_FAILURES = 10  # most failures that are listed
# Columns of the table of several drivers.
COLUMNS = ("driver", "track", "laps", "clean", "mean lap", "best lap", "pace", "off track", "reversals", "success")
Row = dict[str, float | int | None]


def described(by_track: dict[str, list[Episode]]) -> list[str]:
    """Return the lines about one driver: a table by track, or by groups of tracks if there are many."""
    groups: dict[str, list[Episode]] = {}
    for track_id, episodes in by_track.items():
        groups.setdefault(group_of(track_id), []).extend(episodes)
    if len(by_track) > MAX_TRACKS_APART:
        if len(groups) > 1:
            groups["all"] = list(chain(*by_track.values()))
        rows = {group: summarise(episodes) for group, episodes in groups.items()}
        failed = [track_id for track_id, episodes in by_track.items() if not all(e.is_success for e in episodes)]
        lines = [*successes(groups, "tracks"), *steering(rows)]
        if failed:
            more = f" and {len(failed) - MAX_FAILURES} more" if len(failed) > MAX_FAILURES else ""
            lines.append(f"not every drive was a success on {', '.join(failed[:MAX_FAILURES])}{more}")
        return lines
    rows = {track_id: summarise(episodes) for track_id, episodes in by_track.items()}
    lines = [*laps(rows), *steering(rows)]
    if len(by_track) > 1 or any(episode.start != LINE for episodes in by_track.values() for episode in episodes):
        lines += successes(by_track, "track")
    for track_id, episodes in by_track.items():
        times = [" ".join(f"{lap_time:.2f}" for lap_time in e.lap_times) or "-" for e in episodes if e.start == LINE]
        lines.append(f"lap times on {track_id} in seconds: {'; '.join(times[:5])}")
    return lines


def side_by_side(drivers: Sequence[tuple[str, dict[str, list[Episode]]]]) -> list[str]:
    """Return the lines of one table of several drivers: a row for each of them on each track, or group of tracks.

    Args:
        drivers: Pairs of a driver's name and its episodes by track id.
    """
    lines = [[*COLUMNS]]
    for name, by_track in drivers:
        for place, episodes in places_of(by_track).items():
            lines.append([printable(name, MAX_NAME), printable(place, MAX_NAME), *cells(episodes)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join([*map(str.ljust, line[:2], widths), *map(str.rjust, line[2:], widths[2:])]) for line in lines]


def places_of(by_track: dict[str, list[Episode]]) -> dict[str, list[Episode]]:
    """Return the episodes by track, or by groups of tracks if there are many; then of all, if that is more than one."""
    many = len(by_track) > MAX_TRACKS_APART
    places: dict[str, list[Episode]] = {}
    for track_id, episodes in by_track.items():
        places.setdefault(group_of(track_id) if many else track_id, []).extend(episodes)
    return {**places, "all": list(chain(*by_track.values()))} if len(places) > 1 else places


def cells(episodes: Sequence[Episode]) -> list[str]:
    """Return what ``side_by_side`` tells of a driver's episodes; lap times only if they are of one track."""
    row, drives = summarise(episodes), [episode for episode in episodes if episode.start == LINE]
    is_one = len({episode.track_id for episode in drives}) == 1
    lap_times = (row["mean_lap_time_sec"], row["best_lap_time_sec"]) if is_one else (None, None)
    pace, good = row["pace_units_per_sec"], sum(episode.is_success for episode in episodes)
    return [
        f"{row['laps']}/{row['laps_asked']}",
        str(row["clean_laps"]),
        *("-" if lap_time is None else f"{lap_time:.2f} s" for lap_time in lap_times),
        "-" if pace is None else f"{pace:.1f} units/s",
        f"{row['off_track_share']:.1%}",
        f"{row['steer_reversals_per_sec']:.1f}/s",
        f"{good} of {len(episodes)}",
    ]


def group_of(track_id: str) -> str:
    """Return the name of a track's group: its set for a generated track, all tracks from files for any other."""
    return kind_of(track_id) or "of files"


def laps(rows: dict[str, Row]) -> list[str]:
    """Return the lines of a table with one row per track.

    Args:
        rows: Figures by track id, as from ``summarise``.
    """
    rows = {printable(track_id, MAX_NAME): row for track_id, row in rows.items()}
    width = max(5, *(len(track_id) for track_id in rows))
    lines = [
        f"{'track':<{width}}  {'laps':>9}  {'clean':>5}  {'completion':>10}  {'mean lap':>8}  {'best lap':>8}  "
        f"{'std':>7}  {'wall contact':>12}  {'off track':>9}  {'reward':>8}"
    ]
    for track_id, row in rows.items():
        mean, best, deviation = (
            "-" if row[key] is None else f"{row[key]:.2f} s"
            for key in ("mean_lap_time_sec", "best_lap_time_sec", "std_lap_time_sec")
        )
        laps = f"{row['laps']}/{row['laps_asked']}"
        lines.append(
            f"{track_id:<{width}}  {laps:>9}  {row['clean_laps']:>5}  {row['completion']:>10.0%}  {mean:>8}  "
            f"{best:>8}  {deviation:>7}  {row['wall_contact_ticks']:>6} ticks  {row['off_track_share']:>9.1%}  "
            f"{row['mean_reward']:>8.3f}"
        )
    return lines


def successes(groups: dict[str, list[Episode]], title: str) -> list[str]:
    """Return the lines of a table of how often a driver gets around, and at what pace, with one row per group.

    Args:
        groups: Episodes by the name of their group.
        title: Heading of the column of groups.
    """
    groups = {printable(group, MAX_NAME): episodes for group, episodes in groups.items()}
    width = max(len(title), *(len(group) for group in groups))
    has_starts = any(episode.start != LINE for episodes in groups.values() for episode in episodes)
    kinds = {LINE: "from the line", **({MOVING: "on the move", STANDING: "at rest"} if has_starts else {})}
    lines = [
        f"{title:<{width}}  {'success:':>8}"
        + "".join(f"  {words:>13}" for words in kinds.values())
        + f"  {'pace (length over lap time)':>27}  {'wall contact':>14}  {'off track':>9}"
    ]
    for group, episodes in groups.items():
        row = summarise(episodes)
        drives = sum(episode.start == LINE for episode in episodes)
        contact = f"{(row['wall_contact_ticks'] or 0) / drives:.1f} ticks each"
        cells = []
        for kind in kinds:
            good = [episode.is_success for episode in episodes if episode.start == kind]
            cells.append(f"{sum(good)} of {len(good)}")
        pace = row["pace_units_per_sec"]
        lines.append(
            f"{group:<{width}}  {'':>8}"
            + "".join(f"  {cell:>13}" for cell in cells)
            + f"  {'-' if pace is None else f'{pace:.1f} units/s':>27}  {contact:>14}"
            + f"  {row['off_track_share']:>9.1%}"
        )
    return lines


def steering(rows: dict[str, Row]) -> list[str]:
    """Return the lines of a table of how smoothly a driver steers, with one row per track; see ``laps``."""
    rows = {printable(track_id, MAX_NAME): row for track_id, row in rows.items()}
    width = max(5, *(len(track_id) for track_id in rows))
    lines = [
        f"{'track':<{width}}  {'steering: sign changes':>22}  {'of the wheel':>12}  {'reversals':>9}  "
        f"{'change per tick':>15}  {'stalls':>6}"
    ]
    for track_id, row in rows.items():
        command, wheel, reversals = (
            f"{row[key]:.1f}/s"
            for key in ("steer_sign_changes_per_sec", "wheel_sign_changes_per_sec", "steer_reversals_per_sec")
        )
        lines.append(
            f"{track_id:<{width}}  {command:>22}  {wheel:>12}  {reversals:>9}  {row['mean_steer_change']:>15.3f}  "
            f"{row['stalls']:>6}"
        )
    return lines
