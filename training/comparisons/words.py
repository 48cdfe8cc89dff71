"""What a comparison comes to, in words."""

from collections.abc import Iterator, Sequence

from training.comparisons.comparison import Compared, Comparison, is_better
from training.comparisons.measures import CLEAN_LAPS, LAP_TIME, OFF_ROAD, PACE, REVERSALS, STEPS, Measure
from training.comparisons.spread import FEW_SEEDS
from training.console.messages import count_of

MANY = 10  # settings from which the best one is likely to owe some of its rank to luck
MAX_RIVALS = 3  # most settings that the best one is compared with, those next to it
OTHER_COURSES = (
    "the settings were not all evaluated on the same tracks with the same laps and random starts: where these differ, "
    "neither figures nor rank say which one is better, and no sentence compares them"
)


def sentences(comparison: Comparison) -> list[str]:
    """Return what can be said about the best setting and those next to it: which one is better, and how surely."""
    best, *others = comparison.settings
    rivals = [each for each in others if each.setting.course == best.setting.course]
    found = [OTHER_COURSES] if len({each.setting.course for each in comparison.settings}) > 1 else []
    found += [*_about_seeds(comparison.settings[: 1 + MAX_RIVALS]), *_about_steps(comparison.settings)]
    if len(comparison.settings) > MANY:
        found.append(f"the best of {len(comparison.settings):,} settings is lucky too: train it again, with new seeds")
    for measure in dict.fromkeys((comparison.rank, LAP_TIME, STEPS)):
        found += [pair_in_words(best, rival, measure) for rival in rivals[:MAX_RIVALS]]
    return found


def pair_in_words(one: Compared, other: Compared, measure: Measure) -> str:
    """Return which of two settings is better by a measure, in how many of the seeds that both have."""
    here, there = one.by_seed(measure), other.by_seed(measure)
    common = [seed for seed in here if seed in there]
    wins = sum(is_better(here[seed], there[seed], measure) for seed in common)
    losses = sum(is_better(there[seed], here[seed], measure) for seed in common)
    if wins < losses:
        return pair_in_words(other, one, measure)
    surely = _about_intervals(one, other, measure)
    if not common:
        medians = " against ".join(measure.shown(each.of(measure).median) for each in (one, other))
        return f"{one.label} and {other.label} share no seed; {measure.title}, medians: {medians}{surely}"
    ties = len(common) - wins - losses
    seeds = count_of(len(common), "seed") + (f", and as good in {ties}" if ties else "")
    if not wins:
        return f"{one.label} and {other.label} are equal in {measure.title} in every seed"
    if wins == losses:
        each = f"each is better in {wins} of {seeds}"
        return f"{one.label} and {other.label} are alike in {measure.title}: {each}{surely}"
    at_what_cost = _costs(one, other) if measure is LAP_TIME else ""
    return f"{one.label} {measure.better} {other.label} in {wins} of {seeds}{surely}{at_what_cost}"


def _costs(faster: Compared, slower: Compared) -> str:
    """Return in what the faster of two settings is worse, if it is the worse one by its pace less costs."""
    if not is_better(slower.of(PACE).median, faster.of(PACE).median, PACE):
        return ""
    worse = []
    for measure in (CLEAN_LAPS, OFF_ROAD, REVERSALS):  # what the costs are for
        here, there = faster.of(measure).median, slower.of(measure).median
        if is_better(there, here, measure) and measure.shown(here) != measure.shown(there):
            worse.append(f"{measure.title} {measure.shown(here)} against {measure.shown(there)}")
    return f"; but {', '.join(worse)}" if worse else ""


def _about_intervals(one: Compared, other: Compared, measure: Measure) -> str:
    overlap = one.of(measure).overlaps(other.of(measure))
    return "" if overlap is None else f"; the intervals {'overlap' if overlap else 'do not overlap'}"


def _about_seeds(best: Sequence[Compared]) -> Iterator[str]:
    counts = [len(each.setting.runs) for each in best]
    if min(counts) < FEW_SEEDS:
        yield f"fewer than {FEW_SEEDS} seeds have no interval, and say little about luck: train with 5 or more"
    if FEW_SEEDS in counts:
        yield f"an interval from {FEW_SEEDS} seeds is weak: it cannot be wider than these seeds are apart"


def _about_steps(settings: Sequence[Compared]) -> Iterator[str]:
    steps = [each.setting.values["timesteps"] for each in settings]
    if min(steps) < max(steps):
        span = f"some for {min(steps):,} steps, and some for {max(steps):,}"
        yield f"not all settings were trained for as long, {span}: a longer training may be why one is better"
