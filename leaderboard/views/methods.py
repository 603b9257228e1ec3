"""How scores are made."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.models.vocabulary import OWN_MODALITIES, CellClass, Domain, Family, Level
from leaderboard.selectors.examples import SHOWN_QUERIES
from leaderboard.selectors.published import BOUNDS_APART
from leaderboard.selectors.reported import reported_figures
from leaderboard.views.analysis_words import BUCKETS
from leaderboard.views.probe_words import BOUNDARY, CLASS_EXPLANATIONS, LEVEL_QUESTIONS, level_title
from leaderboard.views.questions import FAMILY_QUESTIONS

RESAMPLES = 10_000
"""Of every bootstrap; a test holds this and the rest of the page to the code that computes."""
LEVEL = 0.95
BASELINES = 8
COMPARED_MODELS = 50
COMPARED_PROBED_MODELS = 20
LARGEST_TASKS = 5
SEED = 42
EXAMPLES = 20
POSITIVES, MAX_NEGATIVES = 4, 10
"""Descriptions of a probe."""
AGE_CUTS = (40, 60)


def page(request: HttpRequest) -> HttpResponse:
    """The methods page: every rule, and which choices are ours."""
    tail = (1 - LEVEL) / 2 * 100
    context = {
        "section": "methods",
        "families": [(family.label, FAMILY_QUESTIONS[family]) for family in Family],
        "domains": ", ".join(domain.label for domain in Domain),
        "bounds_apart": BOUNDS_APART * 100,
        "resamples": RESAMPLES,
        "level": f"{LEVEL:.0%}",
        "quantiles": f"{tail:g}% and {100 - tail:g}%",
        "buckets": BUCKETS.values(),
        "n_baselines": BASELINES,
        "compared_models": COMPARED_MODELS,
        "compared_probed_models": COMPARED_PROBED_MODELS,
        "largest_tasks": LARGEST_TASKS,
        "seed": SEED,
        "n_examples": EXAMPLES,
        "n_shown": SHOWN_QUERIES,
        "positives": POSITIVES,
        "max_negatives": MAX_NEGATIVES,
        "reported": reported_figures(settings.REPORTED_FIGURES),
        "probing_reported": reported_figures(settings.PROBING_REPORTED_FIGURES),
        "levels": [(level_title(level), LEVEL_QUESTIONS[level]) for level in Level],
        "classes": [(value.label, CLASS_EXPLANATIONS[value]) for value in reversed(CellClass)],
        "boundary": BOUNDARY,
        "own_modalities": " and ".join(modality.label.lower() for modality in OWN_MODALITIES),
        "age_cuts": " and ".join(map(str, AGE_CUTS)),
    }
    return render(request, "methods.html", context)
