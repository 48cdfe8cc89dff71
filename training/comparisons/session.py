"""A comparison from the runs that were found to the page."""

import json
from collections.abc import Sequence
from pathlib import Path

from racer_env.tracks import Track
from training.checkpoints.writing import replacing
from training.comparisons.best import best_in_words, next_in_words, try_in_words
from training.comparisons.comparison import compare
from training.comparisons.document import as_document
from training.comparisons.driving import drive_best
from training.comparisons.finding import FoundRun, folder_of
from training.comparisons.measures import BY_OBJECTIVE, PACE, Measure
from training.comparisons.options import PAGE_NAME, CompareOptions
from training.comparisons.page import make_page
from training.comparisons.search import searches_of
from training.comparisons.table import drivers_table, settings_table
from training.comparisons.words import sentences
from training.console.messages import in_short, note, say
from training.console.parser import DONE
from training.sweeps.folders import SWEEP_NAME, read_sweep
from training.sweeps.options import parse


def carry_out(options: CompareOptions, runs: Sequence[FoundRun], tracks: Sequence[Track]) -> int:
    """Compare runs, let the best drivers drive, print what is found, write the page, and return the exit code.

    Args:
        options: The options of the script.
        runs: The runs to compare.
        tracks: Tracks for the drivers; none leaves the drive out.

    Raises:
        RunError: The file of a sweep is damaged.
        OSError: The page cannot be written.
    """
    sweeps = _sweeps(options)
    comparison = compare(runs, _rank(sweeps))
    searches = [search for folder in sweeps for search in searches_of(folder)]
    driven = drive_best(comparison, tracks) if tracks else []
    best, command = best_in_words(comparison), try_in_words(comparison.settings[0], comparison.rank)
    words = sentences(comparison)
    if options.json:
        print(json.dumps(as_document(comparison, [best, *words], searches, driven), indent=2))
    else:
        say(best)
        say(command, limit=None)
        for line in [*settings_table(comparison), *next_in_words(comparison), *drivers_table(driven), *words]:
            say(line)
    title = in_short([*dict.fromkeys(run.given for run in runs)])
    path = options.output or (sweeps[0] if len(sweeps) == len(options.runs) == 1 else options.logs_dir) / PAGE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        page = make_page(title, comparison, [best, command, *words], searches, driven)
        beside.write_text(page, encoding="utf-8", errors="backslashreplace")
    tell = note if options.json else say
    tell(f"saved {path} ({path.stat().st_size / 1024:,.0f} KB); open it in a browser")
    return DONE


def _sweeps(options: CompareOptions) -> list[Path]:
    """Return the folders of the sweeps that were named."""
    folders = [folder_of(name, options.logs_dir) for name in options.runs]
    return [folder for folder in dict.fromkeys(folders) if (folder / SWEEP_NAME).is_file()]


def _rank(sweeps: Sequence[Path]) -> Measure:
    """Return what sweeps judge by, where all judge by the same; else the pace, as for the best model of a run."""
    objectives = {parse(read_sweep(folder)["arguments"]).objective for folder in sweeps}
    return BY_OBJECTIVE[objectives.pop()] if len(objectives) == 1 else PACE
