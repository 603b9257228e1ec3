"""Invented embedding models, and runs of them on a suite."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.utils import timezone

from leaderboard.models import EmbeddingModel, ModelRevision, Run, Suite, User
from leaderboard.models.vocabulary import RunState

OWNER = "synthetic"
KINDS = ("clip", "siglip", "qwen3_vl", "open_clip", "medimageinsight", "biovil", "rzen_embed")
TEXT_KIND = "sentence_transformers"
LICENCES = ("apache-2.0", "mit", "cc-by-4.0", "cc-by-nc-4.0", "llama3", "other", "")
DIMENSIONS = (256, 384, 512, 768, 1024, 2048, 3584, 4096)
SIZES = (7.0, 10.0)
"""The decades between which sizes are drawn."""
TEXT_SHARE, GATED_SHARE, OTHER_DEVICE_SHARE = 0.1, 0.15, 0.15
DEVICES = ("cuda:0 (NVIDIA H200)", "cuda:0 (NVIDIA L4)")
USER = "seed"


@dataclass(frozen=True, slots=True)
class DrawnModels:
    """Models with what their scores follow from. Arrays hold one value a model; `reads_text_only` leaves images out."""

    revisions: Sequence[ModelRevision]
    decades: np.ndarray
    ability: np.ndarray
    reads_text_only: np.ndarray


def draw_models(count: int, *, random: np.random.Generator) -> DrawnModels:
    """Store invented models; larger ones are better, but not by much and not always."""
    decades = random.uniform(*SIZES, count)
    text_only = random.random(count) < TEXT_SHARE
    models = EmbeddingModel.objects.bulk_create(
        EmbeddingModel(
            repo_id=f"{OWNER}/model-{number:04}",
            family=TEXT_KIND if text_only[number] else KINDS[random.integers(len(KINDS))],
            licence=LICENCES[random.integers(len(LICENCES))],
            parameters=int(10 ** decades[number]),
            dimension=DIMENSIONS[random.integers(len(DIMENSIONS))],
            gated=random.random() < GATED_SHARE,
        )
        for number in range(count)
    )
    revisions = ModelRevision.objects.bulk_create(
        ModelRevision(model=model, commit=f"{number + 1:040x}") for number, model in enumerate(models)
    )
    ability = 0.45 * (decades - np.mean(SIZES)) + random.normal(0, 0.7, count)
    return DrawnModels(revisions, decades, ability, text_only)


def draw_runs(models: DrawnModels, suite: Suite, *, random: np.random.Generator) -> list[Run]:
    """Store a published run of each model."""
    user, _ = User.objects.get_or_create(username=USER, defaults={"is_active": False})
    now = timezone.now()
    other = random.random(len(models.revisions)) < OTHER_DEVICE_SHARE
    return Run.objects.bulk_create(
        Run(
            revision=revision,
            suite=suite,
            attempt=1,
            requested_by=user,
            state=RunState.SUCCEEDED,
            is_published=True,
            environment={"device": DEVICES[int(other[number])]},
            finished_at=now,
            published_at=now - timedelta(minutes=number),
        )
        for number, revision in enumerate(models.revisions)
    )
