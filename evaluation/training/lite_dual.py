"""Trains the two projections of a lite-dual model on a suite's train split.

The towers stay frozen, so their features are computed once; what is trained is one linear map for images and one for
texts. The text map starts as the identity, because MiniLM's space already orders texts well, and both are held near
their start by weight decay.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from evaluation.embedders.lite_dual import LinearProjection, build_lite_dual
from evaluation.embedders.lite_towers import TEXT_FEATURES, FrozenTowers, load_pretrained_towers
from evaluation.errors import ModelInvalid
from evaluation.suites.medheb.reader import read_suite
from evaluation.training.contrastive import false_negatives, symmetric_info_nce
from evaluation.training.features import ABSENT, PairFeatures, SideParts, pair_features
from evaluation.training.model_card import model_card
from evaluation.training.pairs import LoadedPair, read_training_pairs

STEPS = 600
GROUPS_IN_BATCH = 4
PAIRS_IN_GROUP = 64
LEARNING_RATE = 1e-3
PULL_TO_START = 1e-3
IMAGE_DROPOUT = 0.3
TEMPERATURE = 0.05
RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """What was trained: the losses of the first and last tenth of the steps (means), and the pairs of each source."""

    first_loss: float
    last_loss: float
    pairs: dict[str, int]


class Projections(torch.nn.Module):
    """The two maps, on image features standardised by the train split."""

    def __init__(self, features: PairFeatures) -> None:
        super().__init__()
        images = torch.from_numpy(features.images)
        self.mean = images.mean(dim=0)
        self.scale = 1.0 / images.std(dim=0, correction=0).clamp_min(1e-6)
        self.image = torch.nn.Linear(images.shape[1], TEXT_FEATURES)
        self.text = torch.nn.Linear(TEXT_FEATURES, TEXT_FEATURES)
        with torch.no_grad():
            weight, bias = _ridge_start(self.standardised(images), features)
            self.image.weight.copy_(weight)
            self.image.bias.copy_(bias)
            self.text.weight.copy_(torch.eye(TEXT_FEATURES))
            self.text.bias.zero_()

    def standardised(self, images: torch.Tensor) -> torch.Tensor:
        """Image features with mean 0 and SD 1 over the train split."""
        return (images - self.mean) * self.scale

    def exported(self) -> tuple[LinearProjection, LinearProjection]:
        """Both maps on raw features: the standardisation is folded into the image map."""
        with torch.no_grad():
            weight = self.image.weight * self.scale
            bias = self.image.bias - weight @ self.mean
            return (
                LinearProjection(weight.numpy(), bias.numpy()),
                LinearProjection(self.text.weight.numpy().copy(), self.text.bias.numpy().copy()),
            )


def _ridge_start(images: torch.Tensor, features: PairFeatures) -> tuple[torch.Tensor, torch.Tensor]:
    """Ridge regression from each image to the mean of the texts it is paired with, in closed form."""
    totals = torch.zeros(len(images), TEXT_FEATURES, dtype=torch.float64)
    counts = torch.zeros(len(images), dtype=torch.float64)
    texts = torch.from_numpy(features.texts).double()
    for one, other in ((features.query, features.positive), (features.positive, features.query)):
        chosen = (one.images != ABSENT) & (other.texts != ABSENT)
        rows = torch.from_numpy(one.images[chosen])
        totals.index_add_(0, rows, texts[torch.from_numpy(other.texts[chosen])])
        counts.index_add_(0, rows, torch.ones(len(rows), dtype=torch.float64))
    paired = counts > 0
    x, y = images[paired].double(), totals[paired] / counts[paired][:, None]
    centre = y.mean(dim=0)
    gram = x.T @ x + RIDGE * len(x) * torch.eye(x.shape[1], dtype=torch.float64)
    weight = torch.linalg.solve(gram, x.T @ (y - centre))
    return weight.T.float(), centre.float()


def train_projections(features: PairFeatures, *, seed: int) -> tuple[Projections, list[float]]:
    """Train on the features; returns the maps and the loss of each step. The same seed gives the same maps."""
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    maps = Projections(features)
    start = [parameter.detach().clone() for parameter in maps.parameters()]
    optimiser = torch.optim.Adam(maps.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    members = [np.flatnonzero(features.groups == group) for group in range(features.groups.max() + 1)]
    weights = np.sqrt([len(group) for group in members])
    query_ids = _side_ids(features.query)
    positive_ids = _side_ids(features.positive)
    labels = torch.from_numpy(features.labels)
    images = maps.standardised(torch.from_numpy(features.images))
    texts = torch.from_numpy(features.texts)
    losses = []
    for _ in range(STEPS):
        batch = _batch(members, weights, rng)
        keep = torch.rand(len(batch), 2, images.shape[1], generator=generator) >= IMAGE_DROPOUT
        queries = _embed(maps, features.query, batch, tables=(images, texts), keep=keep[:, 0])
        positives = _embed(maps, features.positive, batch, tables=(images, texts), keep=keep[:, 1])
        masked = false_negatives(positive_ids[batch], query_ids[batch], labels[batch])
        loss = symmetric_info_nce(queries, positives, masked, TEMPERATURE)
        pull = torch.stack(
            [((now - then) ** 2).sum() for now, then in zip(maps.parameters(), start, strict=True)]
        ).sum()
        optimiser.zero_grad()
        torch.autograd.backward(loss + PULL_TO_START * pull)
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return maps, losses


def _batch(members: Sequence[np.ndarray], weights: np.ndarray, rng: np.random.Generator) -> torch.Tensor:
    """A few kinds of pairs, and pairs of each: negatives of the same kind are the hard ones."""
    size = min(GROUPS_IN_BATCH, len(members))
    groups = rng.choice(len(members), size=size, replace=False, p=weights / weights.sum())
    rows = [rng.permutation(members[group])[:PAIRS_IN_GROUP] for group in groups]
    return torch.from_numpy(np.concatenate(rows))


def _side_ids(side: SideParts) -> torch.Tensor:
    """One number for each distinct content (images and text) of a side."""
    _, ids = np.unique(np.stack([side.images, side.texts], axis=1), axis=0, return_inverse=True)
    return torch.from_numpy(ids.reshape(-1))


def _embed(
    maps: Projections,
    side: SideParts,
    batch: torch.Tensor,
    *,
    tables: tuple[torch.Tensor, torch.Tensor],
    keep: torch.Tensor,
) -> torch.Tensor:
    """Unit-length mean of the projected parts, as the loaded model embeds."""
    images, texts = tables
    unit = torch.nn.functional.normalize
    total = torch.zeros(len(batch), TEXT_FEATURES)
    rows = torch.from_numpy(side.images)[batch]
    present = rows != ABSENT
    shown = images[rows[present]] * keep[present] / (1.0 - IMAGE_DROPOUT)
    total = total.index_add(0, present.nonzero()[:, 0], unit(maps.image(shown), dim=1))
    for column in (side.texts, side.instructions):
        rows = torch.from_numpy(column)[batch]
        present = rows != ABSENT
        total = total.index_add(0, present.nonzero()[:, 0], unit(maps.text(texts[rows[present]]), dim=1))
    return unit(total, dim=1)


def train_lite_dual(suite: Path, out: Path, *, seed: int = 42) -> TrainingOutcome:
    """Train on the suite's train split and write a lite-dual model folder with a model card to `out`.

    Raises:
        ModelInvalid: `out` holds files.
        DataMissing: the suite has no training pairs.
        RecordInvalid: a training pair cannot be read.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ModelInvalid(f"{out} already holds files; name a new folder or remove it first")
    spec = read_suite(suite)
    pairs = read_training_pairs(suite)
    towers = load_pretrained_towers()
    maps, losses = train_projections(pair_features(pairs, towers), seed=seed)
    sources = dict(sorted(Counter(pair.source for pair in pairs).items()))
    tenth = max(len(losses) // 10, 1)
    outcome = TrainingOutcome(float(np.mean(losses[:tenth])), float(np.mean(losses[-tenth:])), sources)
    image_projection, text_projection = maps.exported()
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        _write(
            staging, towers, image_projection, text_projection, training=_facts(spec.slug, spec.version, seed, pairs)
        )
        card = model_card(spec, sources, seed=seed, steps=STEPS)
        (staging / "README.md").write_text(card, encoding="utf-8")
        staging.chmod(0o755)
        if out.exists():
            out.rmdir()
        staging.rename(out)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return outcome


def _write(
    folder: Path,
    towers: FrozenTowers,
    image_projection: LinearProjection,
    text_projection: LinearProjection,
    *,
    training: dict[str, object],
) -> None:
    build_lite_dual(
        folder,
        towers=towers,
        image_projection=image_projection,
        text_projection=text_projection,
        training=training,
    )


def _facts(slug: str, version: str, seed: int, pairs: Sequence[LoadedPair]) -> dict[str, object]:
    return {"suite": slug, "suite_version": version, "seed": seed, "steps": STEPS, "pairs": len(pairs)}
