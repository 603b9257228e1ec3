"""What the analyses of a suite are called and mean. Their names are the evaluation library's; a test holds them together."""

from dataclasses import dataclass

from leaderboard.selectors.snapshots import Analysis
from leaderboard.views import figures


@dataclass(frozen=True, slots=True)
class AnalysisWords:
    """Title of a column, what it says, and whether it is a ratio rather than points."""

    title: str
    explanation: str
    is_ratio: bool = False


ANALYSES = {
    "cv": AnalysisWords(
        "CV", "Spread of the family means over their mean: 0 is perfectly even across families", is_ratio=True
    ),
    "drop_both": AnalysisWords(
        "Drop to new relations",
        "Mean of the established families minus the mean of modality-bridging and region-level, in points",
    ),
    "drop_modality_bridging": AnalysisWords(
        "Drop to bridging", "Mean of the established families minus modality-bridging, in points"
    ),
    "drop_region_grounding": AnalysisWords(
        "Drop to region-level", "Mean of the established families minus region-level, in points"
    ),
    "held_out_gap": AnalysisWords(
        "Held-out gap",
        "Mean of in-distribution tasks minus mean of held-out tasks, in points. The splits hold different families",
    ),
    "held_out_gap_shared_families": AnalysisWords(
        "Gap, same families", "The held-out gap over the tasks of those families alone that have both splits, in points"
    ),
    "points_from_ties": AnalysisWords(
        "Points from ties", "What the release's handling of equal scores would add to the overall mean, in points"
    ),
}


@dataclass(frozen=True, slots=True)
class BucketWords:
    """Title of a bucket and the range of its tasks' mean Hit@1 over the public baselines, as shares."""

    title: str
    start: float
    end: float

    @property
    def range(self) -> str:
        """The range in words."""
        if self.start == 0:
            return f"under {self.end:.0%}"
        return f"{self.start:.0%} and more" if self.end == 1 else f"{self.start:.0%} to under {self.end:.0%}"


BUCKETS = {
    "collapse": BucketWords("Collapse", 0.0, 0.03),
    "weak": BucketWords("Weak", 0.03, 0.10),
    "medium": BucketWords("Medium", 0.10, 0.40),
    "tractable": BucketWords("Tractable", 0.40, 1.0),
}


def analysis_figures(words: AnalysisWords, analysis: Analysis) -> tuple[str, str]:
    """The value and its interval, as a ratio or in points; the interval is empty where there is none."""
    if not words.is_ratio:
        return figures.points(analysis.value), figures.points_interval(analysis.lower, analysis.upper)
    has_interval = analysis.lower is not None and analysis.upper is not None
    return f"{analysis.value:.2f}", f"{analysis.lower:.2f} to {analysis.upper:.2f}" if has_interval else ""
