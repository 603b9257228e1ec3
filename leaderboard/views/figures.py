"""How numbers and stored words look on pages."""

from collections.abc import Sequence
from math import ceil

from leaderboard.selectors.board_rows import OTHER_DATA, TRAINED_ON, Missing

NOTHING = "–"
HEAT_STEPS = 20

KIND_TITLES = {
    "clip": "Dual encoder, CLIP",
    "siglip": "Dual encoder, SigLIP",
    "blip2": "Dual encoder, BLIP-2",
    "qwen3_vl": "Multimodal LLM, Qwen3-VL",
    "qwen2_vl": "Multimodal LLM, Qwen2-VL",
    "rzen_embed": "Multimodal LLM, RzenEmbed",
    "open_clip": "Dual encoder, OpenCLIP",
    "medimageinsight": "Dual encoder, MedImageInsight",
    "biovil": "Dual encoder, BioViL",
    "medclip": "Dual encoder, MedCLIP",
    "merlin": "Dual encoder of volumes, MERLIN",
    "pmc_clip": "Dual encoder, PMC-CLIP",
    "unimed_clip": "Dual encoder, UniMed-CLIP",
    "sentence_transformers": "Text encoder",
    "lite_dual": "Dual encoder, lite",
    "chance": "Chance",
}

DS_METRIC = "ds"
METRIC_TITLES = {
    "hit@1": "Hit@1",
    DS_METRIC: "DS",
    "balanced_accuracy": "balanced accuracy",
    "auroc": "macro AUROC",
}

REASONS = {
    "": "whose data were not installed when the run was made",
    OTHER_DATA: "measured on other data than most models",
    TRAINED_ON: "that the model was trained on, which leaves none in a family or on this board",
    "cancelled": "cut short",
    "pending": "not run",
    "input_unsupported": "of a kind that the model cannot read",
    "embedding_invalid": "with embeddings that are not finite or are zero",
    "input_unreadable": "with data that could not be read",
    "input_too_large": "with inputs over the size limit",
    "data_missing": "without their data",
}


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal: 0.461 is 46.1."""
    return NOTHING if value is None else f"{value * 100:.1f}"


def half_width(lower: float | None, upper: float | None) -> str:
    """Half of an interval's length in points, e.g. ±1.2."""
    return "" if lower is None or upper is None else f"±{(upper - lower) * 50:.1f}"


def interval(lower: float | None, upper: float | None) -> str:
    """An interval in percent, e.g. 45.1 to 47.0."""
    return "" if lower is None or upper is None else f"{percent(lower)} to {percent(upper)}"


def rank_interval(lower: int, upper: int) -> str:
    """The ends of a rank's interval, e.g. 3–4, or 3 where it is sure."""
    return str(lower) if lower == upper else f"{lower}–{upper}"


def points(value: float | None) -> str:
    """A difference of shares in points with its sign, e.g. +1.2; what rounds to nothing has none."""
    if value is None:
        return NOTHING
    text = f"{value * 100:+.1f}"
    return text[1:] if float(text) == 0 else text


def points_interval(lower: float | None, upper: float | None) -> str:
    """An interval of a difference in points, e.g. -0.3 to +2.1."""
    return "" if lower is None or upper is None else f"{points(lower)} to {points(upper)}"


def signed(value: float | None) -> str:
    """A difference of cosines, or another number that may be negative, with its sign: +0.123."""
    if value is None:
        return NOTHING
    text = f"{value:+.3f}"
    return text[1:] if float(text) == 0 else text


def main_figure(value: float | None, metric: str) -> str:
    """The value of a task's main metric: a Discrimination Score with its sign, everything else as a percentage."""
    return signed(value) if metric == DS_METRIC else percent(value)


def metric_title(metric: str) -> str:
    """The words for a metric, e.g. recall@10, image to text; an unknown one stands for itself."""
    direction, _, name = metric.partition("_recall@")
    if name:
        return f"recall@{name}, {direction.replace('_', ' ')}"
    return METRIC_TITLES.get(metric, metric)


def signed_interval(lower: float | None, upper: float | None) -> str:
    """An interval of such numbers, e.g. -0.012 to +0.034."""
    return "" if lower is None or upper is None else f"{signed(lower)} to {signed(upper)}"


def rounded(value: float | None) -> float | None:
    """A number for a CSV file, to six decimals."""
    return None if value is None else round(value, 6)


def quantity(value: int | None) -> str:
    """A count of parameters in thousands, millions or billions: 8,100,000,000 is 8.1 B."""
    if value is None:
        return NOTHING
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:.0f} {unit}"  # noqa: PLR2004 - one digit before the point
    return str(value)


def round_quantity(value: int) -> str:
    """A power of ten as a quantity without a fraction: 1 B, 100 M."""
    return quantity(value).replace(".0 ", " ")


def rate(value: float) -> str:
    """A number a second: 0.43, 7.2, 245."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"  # noqa: PLR2004 - one digit before the point


def csv_percent(value: float | None) -> float | None:
    """A share in percent for a CSV file, to four decimals."""
    return None if value is None else round(value * 100, 4)


def heat(value: float) -> str:
    """The CSS classes of a heat-coloured cell for a value in [0, 1]."""
    step = min(HEAT_STEPS, max(0, round(value * HEAT_STEPS)))
    return f"heat heat-{step}"


def axis_top(values: Sequence[float]) -> float:
    """The end of an axis from 0 that holds all values: the next full tenth, at most 1."""
    largest = max(values, default=0.0)
    return min(1.0, max(0.1, ceil(round(largest * 10, 6)) / 10))


def kind_title(kind: str) -> str:
    """The words for an embedder family; an unknown one stands for itself."""
    return KIND_TITLES.get(kind, kind)


def reason(missing: Sequence[Missing]) -> str:
    """Why tasks are missing, in words: '5 tasks of a kind that the model cannot read; 1 task not run'."""
    parts = []
    for part in missing:
        tasks = "1 task" if part.n_tasks == 1 else f"{part.n_tasks} tasks"
        parts.append(f"{tasks} {REASONS.get(part.code, f'failed ({part.code})')}")
    return "; ".join(parts)
